"""Move 3: read the table of contents. What the notebook imports, in the modules of this package by subject."""

from course_lib.learn.lesson import Lesson
from course_lib.lessons.move3_navigation import predictions as asked
from course_lib.lessons.move3_navigation.before import doubted_zeros, pays_from
from course_lib.lessons.move3_navigation.breaking import (
    CAP_ID,
    PERCENTAGES,
    circle,
    large_outline,
    misbehaving,
    paths_under,
    show_choices,
    show_compounding,
    show_misbehaving,
    show_paths,
    show_references,
    spread_reads,
    twenty_outlines,
)
from course_lib.lessons.move3_navigation.exercises import COUNT, FOLLOW, IDS, RESOLVE
from course_lib.lessons.move3_navigation.live import ask_live, request_for, show_prefixes, show_request
from course_lib.lessons.move3_navigation.measuring import (
    bill_explorer,
    on_the_agreement,
    on_the_reference,
    show_bill,
    show_costs,
    show_recall,
    show_vendor_figure,
    show_verdicts,
)
from course_lib.lessons.move3_navigation.reading import PAGEINDEX, make_docx, show_file, show_formats, show_outline
from course_lib.lessons.move3_navigation.tracing import (
    DATA_AT_THE_END,
    FIVE,
    LATE,
    SUSPEND,
    dense_top,
    outline,
    price,
    show_growth,
    show_scores,
    show_traces,
    trace_player,
)

__all__ = [
    "CAP_ID",
    "DATA_AT_THE_END",
    "FIVE",
    "IDS",
    "LATE",
    "PAGEINDEX",
    "PERCENTAGES",
    "SUSPEND",
    "ask_live",
    "bill_explorer",
    "circle",
    "dense_top",
    "doubted_zeros",
    "large_outline",
    "lesson",
    "make_docx",
    "misbehaving",
    "on_the_agreement",
    "on_the_reference",
    "outline",
    "paths_under",
    "pays_from",
    "price",
    "request_for",
    "show_bill",
    "show_choices",
    "show_compounding",
    "show_costs",
    "show_file",
    "show_formats",
    "show_growth",
    "show_misbehaving",
    "show_outline",
    "show_paths",
    "show_prefixes",
    "show_recall",
    "show_references",
    "show_request",
    "show_scores",
    "show_traces",
    "show_vendor_figure",
    "show_verdicts",
    "spread_reads",
    "trace_player",
    "twenty_outlines",
]

lesson = Lesson(
    "move3_navigation",
    (
        asked.AGAIN_ZERO,
        asked.AGAIN_PAYS,
        asked.DROPPED,
        asked.FIRST,
        asked.CHEAPEST,
        asked.CLAIMS,
        asked.LYING,
        asked.PAYS,
    ),
    (COUNT, RESOLVE, FOLLOW),
)
