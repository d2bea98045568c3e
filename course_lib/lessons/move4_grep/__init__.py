"""Move 4: search like a developer. What the notebook imports, in the modules of this package by what they are about."""

from course_lib.learn.lesson import Lesson
from course_lib.lessons.move4_grep import predictions as asked
from course_lib.lessons.move4_grep.exercises import CAPPED, INSIDE, THROTTLE
from course_lib.lessons.move4_grep.experiment import (
    everywhere,
    gains,
    on_the_list,
    repository,
    show_costs,
    show_rates,
    whole_library,
)
from course_lib.lessons.move4_grep.explorer import search_explorer
from course_lib.lessons.move4_grep.keeping import ask_again, edited_copy, show_seconds, show_seen
from course_lib.lessons.move4_grep.watching import (
    deliver_in_vain,
    first_number,
    growth_of,
    hostile,
    leaky,
    linear_seconds,
    obeyed,
    orders_done,
    show_growth,
    show_run,
    stopped_by_guard,
    support_search,
    with_orders,
)

__all__ = [
    "ask_again",
    "deliver_in_vain",
    "edited_copy",
    "everywhere",
    "first_number",
    "gains",
    "growth_of",
    "hostile",
    "leaky",
    "lesson",
    "linear_seconds",
    "obeyed",
    "on_the_list",
    "orders_done",
    "repository",
    "search_explorer",
    "show_costs",
    "show_growth",
    "show_rates",
    "show_run",
    "show_seconds",
    "show_seen",
    "stopped_by_guard",
    "support_search",
    "whole_library",
    "with_orders",
]

lesson = Lesson(
    "move4_grep",
    (
        asked.AGAIN_ZERO,
        asked.AGAIN_WORDS,
        asked.TRAP,
        asked.RETRIES,
        asked.CARRIED,
        asked.BACKTRACK,
        asked.ORDERS,
        asked.GAINS,
        asked.STALE,
    ),
    (THROTTLE, CAPPED, INSIDE),
)
