"""The explorer: a shape, a system, a cut-off, a wish, and what follows from them."""

from course_lib.evaluation.compare import ALL, Outcome
from course_lib.evaluation.questions import SHAPES
from course_lib.evaluation.summary import decide
from course_lib.learn.explorer import Choice, Explorer, Slider
from course_lib.learn.look import escape, mark, paragraph, table
from course_lib.lessons.your_own_data.shipped import NAMES, TODAY, compared
from course_lib.lessons.your_own_data.showing import found
from course_lib.retrieval import rank_of


def draw(shape: str, system: str, k: int, wanted: int) -> str:
    """Return what the decision is for a shape, and what one system finds of it, question by question."""
    comparison = compared(k)
    hits, n = found(comparison, system, shape)
    decisions = [one for one in decide(comparison, wanted / 100) if shape in (ALL, one.shape)]
    pieces = [paragraph(f"{system} finds what is needed for {hits} of {n} questions at k = {k}.")]
    for one in decisions:
        taken = mark("retrieved", one.system) if one.system else mark("missed", "none of these")
        pieces.append(f"<p>{wanted} % wanted of {escape(one.shape)}: {taken}</p>")
        if shape != ALL:
            pieces.append(paragraph(f"{one.reason} {one.gives_up}"))
    rows = [_row(one) for one in comparison.of(system, shape) if shape != ALL or one.found is False]
    heading = "Question" if shape != ALL else "Question (those that are missed)"
    return "".join(pieces) + (table([heading, "What became of it"], rows) if rows else "")


def _row(one: Outcome) -> list[str]:
    ids = one.response.ids or () if one.response else ()
    ranks = [rank for id in one.question.gold if (rank := rank_of(list(ids), id))]
    if one.found:
        lacks = len(one.question.gold) - len(ranks)
        more = f", {lacks} of {len(one.question.gold)} sections missing" if lacks else ""
        return [escape(one.question.text), mark("retrieved", f"found at place {min(ranks)}{more}")]
    return [escape(one.question.text), mark("missed", "not found" if ids else "no evidence")]


def decision_explorer() -> Explorer:
    """Return the explorer over the shipped folder."""
    return Explorer(
        "What would you take?",
        {
            "shape": Choice("Shape", (ALL, *SHAPES), SHAPES[3]),
            "system": Choice("System to look at", (*NAMES, TODAY), NAMES[1]),
            "k": Slider("Cut-off k", 1, 8, 3),
            "wanted": Slider("Share that you want (%)", 50, 100, 80),
        },
        draw,
    )
