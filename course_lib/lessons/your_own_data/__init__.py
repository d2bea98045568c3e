"""Your own data: what the notebook imports, in the modules of this package by what they are about."""

from course_lib.learn.lesson import Lesson
from course_lib.lessons.your_own_data import predictions as asked
from course_lib.lessons.your_own_data.deciding import CHEAPEST
from course_lib.lessons.your_own_data.explorer import decision_explorer
from course_lib.lessons.your_own_data.mine import (
    compare_mine,
    facts,
    from_the_shell,
    label,
    label_mine,
    read_mine,
    ten,
    work_folder,
)
from course_lib.lessons.your_own_data.shipped import (
    ANSWERS,
    FOLDER,
    IN_THE_SCAN,
    QUESTIONS,
    TODAY,
    VECTORS,
    ask,
    cached_texts,
    compared,
    corpus,
    systems,
)
from course_lib.lessons.your_own_data.showing import (
    complete,
    finds_least,
    for_the_team,
    show_answers,
    show_decisions,
    show_found,
    show_numbers,
    show_outlines,
    show_shapes,
    show_sorting,
    show_unread,
)

__all__ = [
    "ANSWERS",
    "FOLDER",
    "IN_THE_SCAN",
    "QUESTIONS",
    "TODAY",
    "VECTORS",
    "ask",
    "cached_texts",
    "compare_mine",
    "compared",
    "complete",
    "corpus",
    "decision_explorer",
    "facts",
    "finds_least",
    "for_the_team",
    "from_the_shell",
    "label",
    "label_mine",
    "lesson",
    "read_mine",
    "show_answers",
    "show_decisions",
    "show_found",
    "show_numbers",
    "show_outlines",
    "show_shapes",
    "show_sorting",
    "show_unread",
    "systems",
    "ten",
    "work_folder",
]

lesson = Lesson(
    "your_own_data",
    (
        asked.AGAIN_ZERO,
        asked.AGAIN_FUSED,
        asked.UNREAD,
        asked.LEAST,
        asked.COMPLETE,
        asked.STALE,
        asked.CHANCE,
    ),
    (CHEAPEST,),
)
