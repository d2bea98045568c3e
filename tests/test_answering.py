"""From evidence to an answer: citations and numbers are checked by code, and nothing found is an answer."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.answering import (
    ASSUMPTION,
    NOT_FOUND,
    QUESTION,
    Answer,
    Claim,
    Formula,
    Quantity,
    answer,
    answer_schema,
    check,
    compute,
    computed_claim,
    extract,
    formula_from,
    holds,
    numbers,
    sentences,
    would_ask,
    written,
)
from course_lib.corpora import DATA
from course_lib.corpora.agreement import LATE_PAYMENT, QUESTIONS, sections
from course_lib.corpora.navigation_questions import LATE_INTEREST
from course_lib.llm import ModelError, open_model
from course_lib.pricing import load_prices
from course_lib.retrieval import Usage
from tests.messages_stub import data, message, messages_stub, point_at

TEXTS = {section.id: section.text for section in sections()}
Q1 = LATE_PAYMENT.text
READ = {"7.3": TEXTS["7.3"], "B": TEXTS["B"]}
ROUND = next(iter(load_prices(DATA / "prices.json").values()))
RATE = Claim("Interest of 12% a year accrues daily.", ("7.3", "B"))


# --- The opening question (O3) ---


def test_the_interest_on_the_example_is_eur_65_75_and_its_formula_is_shown():
    claim = computed_claim(LATE_INTEREST)
    assert claim.text == "On an invoice of EUR 10,000 that is paid 20 days late, that is EUR 65.75."
    assert claim.formula.shown == "10,000 × 12% × 20 / 365 = EUR 65.75; assumed: 10,000"
    assert check(claim, Q1, READ) == []


def test_the_stand_in_quotes_both_sections_and_adds_the_computed_sum():
    found = answer(Q1, READ, computations=[LATE_INTEREST])
    assert [claim.citations for claim in found.claims] == [("7.3",), ("B",), ("7.3", "B")]
    assert "Overdue amounts: 12% per year, accruing daily" in found.text
    assert found.text.endswith("(10,000 × 12% × 20 / 365 = EUR 65.75; assumed: 10,000) [7.3][B]")
    assert (found.problems, found.found) == ((), True)


def test_without_schedule_b_the_computed_sum_is_rejected_and_the_reason_named():
    found = answer(Q1, {"7.3": TEXTS["7.3"]}, computations=[LATE_INTEREST])
    assert "65.75" not in found.text
    assert "[B] was not read: cite 7.3" in found.problems
    assert "rate = 12% comes from 'B', which was not read" in found.problems
    assert len(found.rejected) == 1


# --- A claim is checked ---


def test_a_claim_whose_number_stands_in_a_cited_section_passes():
    assert check(RATE, Q1, READ) == []


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim("Interest is due.", ("7.4",)), "[7.4] was not read"),
        (Claim("Interest is due."), "cites no section"),
        (Claim("Interest is 11% a year.", ("B",)), "the number 11 stands in none"),
        (Claim("Interest is 12% a year.", ("7.3",)), "the number 12 stands in none"),
        (Claim("That is EUR 65.75.", ("7.3", "B")), "the number 65.75 stands in none"),
    ],
)
def test_what_is_wrong_with_a_claim_is_named(claim, said):
    assert any(said in problem for problem in check(claim, Q1, READ))


@pytest.mark.parametrize("citations", [("b",), ("B",)])
def test_a_citation_in_other_capitals_is_the_same_section(citations):
    assert check(Claim("It is 12%.", citations), Q1, READ) == []


def test_a_citation_inside_of_the_text_counts_and_a_word_in_brackets_is_none():
    assert check(Claim("It is 12% [B]."), Q1, READ) == []
    assert "the claim cites no section" in check(Claim("It is 12% [sic]."), Q1, READ)


def test_a_number_of_the_question_may_be_repeated_and_the_name_of_a_section_is_no_number():
    assert check(Claim("For 20 days, see Section 7.3 and Schedule B.", ("7.3",)), Q1, READ) == []


def test_a_number_that_is_written_as_a_word_in_the_evidence_is_held_by_it():
    assert check(Claim("Secret for 5 years.", ("5",)), "How long?", {"5": TEXTS["5"]}) == []


FORMULA = Formula("a * b", {"a": Quantity("12%", "B"), "b": Quantity("20", QUESTION)})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"a": Quantity("13%", "B")}, "a = 13% does not stand in B"),
        ({"a": Quantity("12%", "A")}, "comes from 'A', which was not read"),
        ({"b": Quantity("21", QUESTION)}, "b = 21 does not stand in question"),
        ({"a": Quantity("much", "B")}, "'much' is not one number"),
    ],
)
def test_a_formula_cannot_bring_in_a_number_that_is_nowhere(changed, said):
    formula = Formula(FORMULA.expression, {**FORMULA.quantities, **changed})
    assert any(said in problem for problem in check(Claim("So much.", ("B",), formula), Q1, READ))


def test_a_result_that_is_not_what_the_formula_gives_is_rejected():
    assert check(Claim("That is 2.40.", ("B",), FORMULA), Q1, READ) == []
    assert "the number 2.41" in check(Claim("That is 2.41.", ("B",), FORMULA), Q1, READ)[0]


# --- Numbers and arithmetic ---


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("EUR 10,000 and 1,234.50", ["10000", "1234.50"]),
        ("a 365-day year", ["365"]),
        ("12% per year", ["12"]),
        ("E4471 and v2", []),
        ("Sections 3, 4 and 7.1 or Schedule 2 [7.3]", []),
        ("99.9%.", ["99.9"]),
        ("1,2345", ["1"]),
    ],
)
def test_numbers_are_read_as_a_person_reads_them(text, found):
    assert [str(number) for number in numbers(text)] == found


def test_a_part_of_a_number_is_not_held():
    assert not holds("EUR 10,000", Decimal(0))
    assert not holds("EUR 10,000", Decimal(10))


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').getcwd()", "2 ** 99",
        "a.b", "a[0]", "lambda: 1", "1 if 1 else 2", "'x' * 9", "True", "1 // 2",
        "1 / 0", "0 / 0", "unknown", "", "(", "1 +" * 60, "+1", "1e999 * 1e999", "[1]", "1; 2", "1_0j",
        "(" * 90 + "1" + ")" * 90 + "x",
    ],
)  # fmt: skip
def test_nothing_but_arithmetic_is_computed(expression):
    with pytest.raises(ValueError, match=r"formula"):
        compute(expression, {"a": Decimal(1)})


@given(st.text(max_size=220))
def test_any_text_is_computed_or_refused_in_a_sentence(expression):
    try:
        result = compute(expression, {"a": Decimal(3)})
    except ValueError as error:
        result = str(error)
    assert isinstance(result, Decimal) or "formula" in result


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_arithmetic_is_that_of_fractions(a, b, c):
    values = {"a": Decimal(a), "b": Decimal(b), "c": Decimal(c)}
    assert compute("(a - b) * -2 + a / c", values) == (values["a"] - b) * -2 + values["a"] / c


def test_a_result_is_rounded_half_up_as_money_is():
    assert Formula("a / 8", {"a": Quantity("1", ASSUMPTION)}, "EUR").result == "EUR 0.13"
    assert Formula("a / 200", {"a": Quantity("1", ASSUMPTION)}).result == "0.01"


@pytest.mark.parametrize("entry", [{}, {"expression": "a"}, {"expression": "a", "numbers": {"a": 5}}])
def test_data_that_is_no_formula_is_refused(entry):
    with pytest.raises(ValueError, match=r"no formula"):
        formula_from(entry)


# --- The stand-in ---


def test_nothing_read_and_nothing_shared_are_both_not_in_the_evidence():
    assert answer(Q1, {}).text == NOT_FOUND
    assert answer("Wer haftet?", READ).text == NOT_FOUND
    assert not answer("Wer haftet?", READ, computations=[LATE_INTEREST]).found


def test_what_the_stub_read_holds_nothing_about_data_and_the_stand_in_says_so():
    assert answer(QUESTIONS[2].text, {"9.1": TEXTS["9.1"]}).text == NOT_FOUND
    assert (
        "deletes it within 30 days after termination. [4]"
        in answer(QUESTIONS[2].text, {"9.1": TEXTS["9.1"], "4": TEXTS["4"]}).text
    )


def test_a_sentence_that_is_quoted_stands_in_the_section():
    for claim in extract(Q1, TEXTS):
        assert claim.text in TEXTS[claim.citations[0]]


@given(st.text(max_size=80).filter(str.strip), st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=120)))
def test_any_question_over_any_evidence_has_an_answer_or_none(question, evidence):
    found = answer(question, evidence)
    assert isinstance(found, Answer)
    assert found.text


@given(st.text(max_size=200))
def test_sentences_lose_nothing_but_white_space(text):
    assert "".join(" ".join(sentences(text)).split()) == "".join(text.split())


def test_a_blank_question_is_refused():
    with pytest.raises(ValueError, match="blank"):
        answer(" ", READ)


# --- A model writes ---


@pytest.fixture(scope="module")
def server():
    with messages_stub() as running:
        yield running


@pytest.fixture
def stub(server, monkeypatch):
    server.bodies.clear()
    point_at(server, monkeypatch)
    return server


def claims(*entries):
    return data({"claims": [{"formula": None, **entry} for entry in entries]})


GOOD = {"text": "Interest of 12% a year accrues daily.", "citations": ["7.3", "B"]}
SUM = {
    "text": "On EUR 10,000 that is EUR 65.75.",
    "citations": ["7.3", "B"],
    "formula": {
        "expression": "sum * rate * days / year",
        "numbers": [
            {"name": "sum", "written": "10,000", "source": "assumption"},
            {"name": "rate", "written": "12%", "source": "B"},
            {"name": "days", "written": "20", "source": "question"},
            {"name": "year", "written": "365", "source": "B"},
        ],
        "unit": "EUR",
    },
}


def test_a_model_writes_claims_and_they_pass_the_check(stub):
    stub.answers(claims(GOOD, SUM))
    found = answer(Q1, READ, open_model(ROUND))
    assert found.text == (
        "Interest of 12% a year accrues daily. [7.3][B] "
        "On EUR 10,000 that is EUR 65.75. (10,000 × 12% × 20 / 365 = EUR 65.75; assumed: 10,000) [7.3][B]"
    )
    assert found.usage == Usage(fresh=10, output=5, calls=1)
    assert found.usd == pytest.approx((10 * 3 + 5 * 15) / 1e6)
    (body,) = stub.bodies
    assert body["output_config"]["format"]["schema"] == answer_schema(["7.3", "B"])
    assert f"[B] {TEXTS['B']}" in body["messages"][0]["content"]


def test_a_claim_that_does_not_hold_goes_back_once_and_is_mended(stub):
    stub.answers(claims({"text": "It is 11%.", "citations": ["B"]}), claims(GOOD))
    found = answer(Q1, READ, open_model(ROUND))
    assert found.text.startswith("Interest of 12%")
    assert found.usage.calls == 2
    assert "- the number 11 stands in none of the cited sections (B)" in stub.bodies[1]["messages"][0]["content"]


def test_a_claim_that_never_holds_is_not_shown(stub):
    stub.answers(claims({"text": "It is 11%.", "citations": ["B"]}, GOOD))
    found = answer(Q1, READ, open_model(ROUND))
    assert "11%" not in found.text
    assert [claim.text for claim in found.rejected] == ["It is 11%."]


def test_a_model_may_say_that_it_is_not_in_the_evidence(stub):
    stub.answers(claims())
    found = answer("Who is the tax adviser?", READ, open_model(ROUND))
    assert (found.text, found.problems) == (NOT_FOUND, ())


@pytest.mark.parametrize(
    "reply", [message("no", stop="refusal"), message("{"), message("")], ids=["refused", "cut", "empty"]
)
def test_a_model_that_fails_leaves_the_quotes_and_says_why(stub, reply):
    stub.answers(reply)
    found = answer(Q1, READ, open_model(ROUND))
    assert "[B]" in found.text
    assert found.why.startswith("quoted: The ")
    assert found.usage.calls == 1


def test_a_failure_at_the_second_call_counts_the_first(stub):
    stub.answers(claims({"text": "It is 11%.", "citations": ["B"]}), message("no", stop="refusal"))
    with pytest.raises(ModelError) as caught:
        written(Q1, READ, open_model(ROUND))
    assert caught.value.usage.calls == 2


def test_without_a_key_the_stand_in_quotes_and_the_request_can_be_seen(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    model = open_model(ROUND, "claude-haiku-4-5")
    found = answer(Q1, READ, model)
    assert found.found
    assert "nothing was sent" in found.why
    request = would_ask(model, Q1, READ)
    assert json.dumps(answer_schema(["7.3", "B"])) == json.dumps(request.body["output_config"]["format"]["schema"])
    with pytest.raises(ValueError, match="one call or more"):
        written(Q1, READ, model, tries=0)
