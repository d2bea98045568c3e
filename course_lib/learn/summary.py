"""What the record says: predicted against actual, how far confidence can be trusted, and what to ask again."""

from dataclasses import dataclass

from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.learn.predictions import CONFIDENCE
from course_lib.learn.record import Event, Record


@dataclass(frozen=True)
class Outcome:
    """One question as the record knows it: the first answer, and the result where it was revealed."""

    key: str
    question: str
    answer: tuple[str, ...]
    confidence: str
    after_result: bool
    right: tuple[str, ...] | None

    @property
    def is_right(self) -> bool:
        """Whether the answer named all of the right options and no other."""
        return self.right is not None and set(self.answer) == set(self.right)

    @property
    def is_scored(self) -> bool:
        """Whether it counts: revealed, and answered before the result was there."""
        return self.right is not None and not self.after_result


def outcomes(record: Record) -> list[Outcome]:
    """Return one outcome a question that was answered, in the order of the first answers."""
    first: dict[str, Event] = {}
    for event in record.events("prediction"):
        first.setdefault(event["key"], event)
    revealed = {event["key"]: tuple(event["right"]) for event in record.events("reveal")}
    return [
        Outcome(key, e["question"], tuple(e["answer"]), e["confidence"], e["after_result"], revealed.get(key))
        for key, e in first.items()
    ]


def summary(record: Record) -> Shown:
    """Return the whole record as one card: what to ask again first, and all results folded away behind it."""
    answered = outcomes(record)
    pieces = [*_revisit(answered), *_confidence(answered), _exercises(record), _predictions(answered)]
    notices = [paragraph(text, "missed") for text in (record.notice, record.trouble) if text]
    if not any(pieces):
        pieces = [paragraph("Nothing here yet: your predictions and exercises appear as you make them.")]
    return Shown(card("Your record", *notices, *pieces))


def _predictions(answered: list[Outcome]) -> str:
    rows = [
        [escape(o.question), escape(", ".join(o.answer)), escape(o.confidence), _result(o), _verdict(o)]
        for o in answered
    ]
    if not rows:
        return ""
    inside = table(["Question", "You predicted", "How sure", "Result", ""], rows)
    return f"<details><summary>Predicted against actual ({len(rows)})</summary>{inside}</details>"


def _result(outcome: Outcome) -> str:
    return escape("not run yet" if outcome.right is None else ", ".join(outcome.right))


def _verdict(outcome: Outcome) -> str:
    if outcome.right is None:
        return escape("open")
    if outcome.after_result:
        return escape("answered after the result, not scored")
    return mark("retrieved", "right") if outcome.is_right else mark("missed", "missed")


def _confidence(answered: list[Outcome]) -> list[str]:
    """One line a step of confidence that was used: how many answers, how many of them right."""
    lines = []
    for step in reversed(CONFIDENCE):
        scored = [o for o in answered if o.is_scored and o.confidence == step]
        if scored:
            right = sum(o.is_right for o in scored)
            lines.append(paragraph(f"When you said “{step}”: {right} of {len(scored)} right."))
    return lines


def _exercises(record: Record) -> str:
    """One row an exercise that was tried: attempts, the best outcome, and what help was asked for."""
    titles = {event["key"]: event["title"] for event in record.events("exercise")}
    rows = []
    for key, title in titles.items():
        tried = [event["outcome"] for event in record.events("exercise", key)]
        done = mark("retrieved", "solved") if "right" in tried else mark("missed", "not solved yet")
        helped = [kind for kind in ("hint", "solution") if record.events(kind, key)]
        rows.append([escape(title), str(len(tried)), done, escape(" and ".join(helped) or "none")])
    return table(["Exercise", "Attempts", "State", "Help taken"], rows, numbers=[1]) if rows else ""


def _revisit(answered: list[Outcome]) -> list[str]:
    """The questions that were missed, to be asked again; those answered with the most confidence come first."""
    missed = [o for o in answered if o.is_scored and not o.is_right]
    missed.sort(key=lambda o: -CONFIDENCE.index(o.confidence) if o.confidence in CONFIDENCE else 0)
    if not missed:
        return []
    asked = "".join(
        f"<li>{escape(o.question)} <details><summary>Show the result</summary>{_result(o)}</details></li>"
        for o in missed
    )
    return [paragraph("Ask yourself again, before you open the result:"), f"<ul>{asked}</ul>"]
