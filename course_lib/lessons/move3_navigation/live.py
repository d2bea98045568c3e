"""The real call: what is sent for one step, and one question to a live model where there is a key."""

import json

from course_lib.answering import answer
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.lessons.move3_navigation.breaking import large_outline
from course_lib.lessons.move3_navigation.tracing import LATE, outline, price
from course_lib.llm import Effort, Request, open_model
from course_lib.navigation.loop import Run, navigate
from course_lib.navigation.models import claude_model, pages, would_ask
from course_lib.tokens import count_tokens

LIMIT = 0.05  # USD


def request_for(question: str, effort: Effort | None = "low") -> Request:
    """Return the first request of a run over the small agreement; nothing is sent."""
    return would_ask(open_model(price(), budget=LIMIT, effort=effort), outline(), question)


def show_request(request: Request) -> Shown:
    """Return the parts of a request: what stays the same, what changes, and the shape that the reply must have."""
    body = request.body
    config = dict(body["output_config"])
    schema = config.pop("format")["schema"]["properties"]
    parts = body["system"]
    rows = [
        ["instructions, the same each time", _pre(parts[0]["text"])],
        [
            f"contents, {'marked' if 'cache_control' in parts[-1] else 'not marked'} for the cache",
            _pre(_lines(parts[-1]["text"])),
        ],
        ["changes with each call", _pre(body["messages"][0]["content"])],
        ["ids, as an enum", f"<code>{escape(json.dumps(schema['node']['enum']))}</code>"],
        ["effort", escape(config.get("effort", "not sent"))],
    ]
    most = f"At most {request.tokens:,} input tokens and USD {request.usd:.4f}; nothing was sent."
    return Shown(card("", table(["Part of the request", "What it holds"], rows), paragraph(most)))


def _pre(text: str) -> str:
    return f'<pre style="margin:0;word-break:normal">{escape(text)}</pre>'


def _lines(text: str, most: int = 4) -> str:
    """Return the first lines of a long text, and how many there are besides."""
    lines = text.splitlines()
    return "\n".join([*lines[:most], f"… {len(lines) - most} more lines"] if len(lines) > most + 1 else lines)


def show_prefixes() -> Shown:
    """Return for both agreements how long the contents are, whether a cache takes them, and the enums they need."""
    rows = []
    for made in (outline(), large_outline()):
        tokens = count_tokens(made.toc())
        cached = tokens >= price().minimum_prefix
        kept = mark("retrieved", "cached") if cached else mark("missed", "too short, and nobody says so")
        rows.append([escape(made.title), str(len(made.ids())), f"{tokens:,}", kept, str(len(pages(made)))])
    headers = ["Document", "Ids", "Tokens of contents", f"Minimum {price().minimum_prefix:,}", "Enums of 200"]
    return Shown(card("", table(headers, rows, numbers=(1, 2, 4))))


def ask_live(question: str = LATE, effort: Effort | None = None) -> Shown:
    """Let a live model navigate and answer; without a key say what would be sent. At most USD 0.05 are spent.

    `effort` is sent where it is given; models that take none refuse it. The price is that of the round numbers.
    """
    model = open_model(price(), budget=LIMIT, effort=effort)
    if model.why_not:
        request = would_ask(model, outline(), question)
        most = f"At most {request.tokens:,} input tokens and USD {request.usd:.4f} for the first call."
        sent = paragraph("This would be sent first, with the contents in front of it:")
        message = escape(str(request.body["messages"][0]["content"]))
        return Shown(
            card("", paragraph(model.why_not), sent, f'<pre style="word-break:normal">{message}</pre>', paragraph(most))
        )
    run = navigate(question, outline(), claude_model(model, outline()), price=price())
    given = answer(question, run.evidence, model)
    spent = paragraph(f"Spent: USD {model.budget.spent:.4f}.")
    steps = table(["Call", "What", "Detail"], [[escape(cell) for cell in row] for row in _explained(run)])
    return Shown(card("", mark("retrieved", "Live"), steps, paragraph(given.text), paragraph(given.why), spent))


def _explained(run: Run) -> list[tuple[str, str, str]]:
    """Return the trace with the model's reason for each read."""
    reasons = [step.reason for step in run.steps] + [""]
    return [
        (n, what, f"{detail} ({why})" if why else detail)
        for (n, what, detail), why in zip(run.rows(), reasons, strict=False)
    ]
