"""Move 2: ask the database. What the notebook imports, in the modules of this package by what they are about."""

from course_lib.learn.lesson import Lesson
from course_lib.lessons.move2_sql import predictions as asked
from course_lib.lessons.move2_sql.designs import side_by_side
from course_lib.lessons.move2_sql.exercises import ALLOWED, CAPPED, COLUMNS, LAYER
from course_lib.lessons.move2_sql.guarding import guard_explorer
from course_lib.lessons.move2_sql.ladder import ask_live, ladder, left_over, show_answer, show_ladder
from course_lib.lessons.move2_sql.running import (
    HARMFUL,
    NOT_RUN,
    ZEROS,
    ask_failing,
    ask_orders,
    attempt,
    dense_rows,
    mistakes,
    show_outputs,
    show_runs,
    show_samples,
    show_trials,
    support_searches,
    through_read_only,
)

__all__ = [
    "COLUMNS",
    "HARMFUL",
    "NOT_RUN",
    "ZEROS",
    "ask_failing",
    "ask_live",
    "ask_orders",
    "attempt",
    "dense_rows",
    "guard_explorer",
    "ladder",
    "left_over",
    "lesson",
    "mistakes",
    "show_answer",
    "show_ladder",
    "show_outputs",
    "show_runs",
    "show_samples",
    "show_trials",
    "side_by_side",
    "support_searches",
    "through_read_only",
]

lesson = Lesson(
    "move2_sql",
    (
        asked.AGAIN_OUTCOME,
        asked.AGAIN_ABSENT,
        asked.SAMPLE,
        asked.PASTED,
        asked.NAIVE,
        asked.GUARDED,
        asked.READ_ONLY,
        asked.TRUE_ZERO,
        asked.INJECTED,
        asked.LADDER,
        asked.SAME_RESULT,
    ),
    (ALLOWED, CAPPED, LAYER),
)
