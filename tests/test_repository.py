"""The six files of the payment service: what the notebook says of them is in them."""

import pytest

from course_lib.corpora.repository import QUESTION, files


def test_there_are_six_files_in_the_order_of_the_lesson() -> None:
    assert list(files()) == [
        "payments/config.py", "payments/webhooks.py", "payments/cards.py", "billing/retry.py",
        "notifications/mailer.py", "docs/runbook.md",
    ]  # fmt: skip


def test_the_code_that_delivers_webhooks_never_says_retry() -> None:
    assert "retry" in QUESTION
    assert "retr" not in files()["payments/webhooks.py"].lower()
    assert "range(WEBHOOK_MAX_ATTEMPTS)" in files()["payments/webhooks.py"]


def test_five_attempts_leave_room_for_four_waits() -> None:
    values: dict[str, object] = {}
    exec(files()["payments/config.py"], values)
    assert (values["WEBHOOK_MAX_ATTEMPTS"], values["WEBHOOK_BACKOFF_SECONDS"]) == (5, [1, 5, 30, 120])


def test_the_mapping_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        files()["payments/config.py"] = ""  # type: ignore[index]
