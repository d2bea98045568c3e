import json
import threading
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.evaluation.compare import ALL, Progress, compare
from course_lib.evaluation.journal import Journal, JournalError, is_finished
from course_lib.evaluation.progress import NotebookBar, bar
from course_lib.evaluation.questions import Question, QuestionsError
from course_lib.evaluation.summary import Number, decide, differences, failures, line, lines, paired_tests
from course_lib.evaluation.systems import Response, System, from_answers, from_retriever, to_response
from course_lib.llm import ModelError
from course_lib.metrics import hit_rate_at_k
from course_lib.pricing import Price
from course_lib.retrieval import Hit, Usage

PRICE = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)
QUESTIONS = [
    Question("Which rate applies?", "structural hop", "12 %", ("7.3", "B")),
    Question("What is E-4471?", "exact identifier", "firmware", ("kb-102",)),
    Question("How many are open?", "aggregate", "5", (), rows=((5,),)),
]
ANSWERS = {"Which rate applies?": ("It is 12 %.", ["B", "8"]), "What is E-4471?": ("A printer.", ["kb-103"])}


def good(question):
    return ANSWERS.get(question, ("5", []))


def only(result):
    return compare({"s": lambda question: result}, QUESTIONS[:1]).outcomes[0]


# --- What a system may return ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "response"),
    [
        ("12 %", Response(answer="12 %")),
        ([Hit("B", 1.0), Hit("8", 0.5), Hit("B", 0.2)], Response(ids=("B", "8"))),
        (["B"], Response(ids=("B",))),
        ([], Response(ids=())),
        ((None, ["B"]), Response(ids=("B",))),
        (("12 %", []), Response(answer="12 %", ids=())),
        ({"answer": 12, "ids": ["B"], "usd": 0.1}, Response(answer="12", ids=("B",), usd=0.1)),
        ({"rows": [[5]]}, Response(rows=((5,),))),
    ],
)
def test_a_system_may_return_what_comes_naturally(result, response):
    assert to_response(result) == response


@pytest.mark.parametrize("result", [None, 5, [1, 2], {"answr": "x"}, ("a", "b"), object(), {"usd": -1}, {"usd": "1"}])
def test_anything_else_is_a_failure_of_that_question_with_a_sentence(result):
    outcome = only(result)
    assert "expected" in outcome.error or "has answer" in outcome.error
    assert (outcome.right, outcome.found) == (False, False)


def test_a_retriever_is_asked_with_k_and_says_what_an_answer_would_cost():
    asked = []

    def search(question, k):
        asked.append(k)
        return [Hit("B", 1.0, "Interest is 12 % a year.")]

    plain = compare({"mine": search}, QUESTIONS[:1], k=4).outcomes[0]
    priced = compare([from_retriever("mine", search, 4, PRICE)], QUESTIONS[:1], k=4)
    assert asked == [4, 4]
    assert plain.found is True
    assert plain.response.usd is None
    response = priced.outcomes[0].response
    assert response.usage.output == 250
    assert 300 < response.usage.fresh < 320
    assert response.usd == pytest.approx((response.usage.fresh * 3 + 250 * 15) / 1e6)
    assert response.estimated
    assert priced.usd == 0


def test_systems_that_are_none_or_share_a_name_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        compare({}, QUESTIONS)
    with pytest.raises(ValueError, match="name of its own"):
        compare([System("a", good), System("a", good)], QUESTIONS)
    with pytest.raises(TypeError, match="'a' is int"):
        compare({"a": 5}, QUESTIONS)


@pytest.mark.parametrize("bad", [{"k": 0}, {"parallel": 0}, {"budget": -1}, {"k": True}])
def test_settings_out_of_bounds_are_refused(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} is"):
        compare({"a": good}, QUESTIONS, **bad)


def test_no_question_and_a_question_twice_are_refused():
    with pytest.raises(ValueError, match="no question"):
        compare({"a": good}, [])
    with pytest.raises(ValueError, match="occurs twice"):
        compare({"a": good}, [QUESTIONS[0], QUESTIONS[0]])


# --- Scores ---------------------------------------------------------------------------------------------------------


def test_answers_and_retrieval_are_scored_apart():
    comparison = compare({"good": good}, QUESTIONS)
    assert [one.right for one in comparison.outcomes] == [True, False, True]
    assert [one.found for one in comparison.outcomes] == [True, False, None]
    assert comparison.outcomes[0].recall == 0.5


def test_without_an_answer_accuracy_is_not_measured_and_never_zero():
    one = line(compare({"ids": lambda question: ["B"]}, QUESTIONS), "ids")
    assert one.answers == Number(None, why="no model wrote an answer")
    assert one.usd.value is None
    assert one.retrieval.value == 0.5
    assert "not measured" in one.answers.shown()


def test_a_failing_question_is_recorded_counts_as_wrong_and_the_run_goes_on():
    def fails(question):
        if "E-4471" in question:
            raise RuntimeError("<b>down</b>")
        return good(question)

    comparison = compare({"fails": fails}, QUESTIONS)
    assert [one.error for one in comparison.outcomes] == ["", "RuntimeError: <b>down</b>", ""]
    one = line(comparison, "fails")
    assert (one.failed, one.answers.n, one.answers.value) == (1, 3, pytest.approx(2 / 3))
    assert one.p95.n == 2


def test_a_failure_counts_only_towards_what_its_system_says_at_all():
    def answers(question):
        if "E-4471" in question:
            raise RuntimeError
        return "12 %"

    def retrieves(question):
        return [] + (answers(question) and ["B"])

    def down(question):
        raise RuntimeError

    comparison = compare({"answers": answers, "retrieves": retrieves, "down": down}, QUESTIONS)
    assert line(comparison, "answers").retrieval.value is None
    assert line(comparison, "retrieves").answers.value is None
    assert line(comparison, "retrieves").retrieval.n == 2
    assert (line(comparison, "down").answers.value, line(comparison, "down").failed) == (0.0, 3)
    assert {(one.measure, one.got, one.missed) for one in differences(comparison)} == {
        ("answers", ("answers",), ("down",)),
        ("retrieval", ("retrieves",), ("down",)),
    }


def test_the_metric_is_that_of_the_route():
    answers = {
        "chunks": System("chunks", lambda question: ["x", "x2", "B"]),
        "outline": System("outline", lambda question: ["x", "x2", "B"], route="outline"),
        "sql": System("sql", lambda question: {"rows": [[5]]}, route="sql"),
        "document": System("document", lambda question: "12 %", route="document"),
    }
    comparison = compare(answers, QUESTIONS, k=2)
    of = {name: line(comparison, name) for name in answers}
    assert (of["chunks"].metric, of["chunks"].retrieval.value) == ("hit rate@2", 0.0)
    assert (of["outline"].metric, of["outline"].retrieval.value) == ("node recall", 0.25)
    assert (of["sql"].metric, of["sql"].retrieval.value, of["sql"].retrieval.n) == ("execution accuracy", 1.0, 1)
    assert of["document"].retrieval.value is None


@pytest.mark.parametrize(
    ("rows", "ordered", "found"),
    [([[1], [2]], False, True), ([[1], [2]], True, False), ([[2], [1.0]], True, True), ([["2"], [1]], False, False)],
)
def test_a_query_is_right_when_its_result_is_and_in_order_only_where_one_is_asked_for(rows, ordered, found):
    question = Question("Which?", rows=((2,), (1,)), ordered=ordered)
    comparison = compare([System("sql", lambda asked: {"rows": rows}, route="sql")], [question])
    assert comparison.outcomes[0].found is found


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=6, unique=True), min_size=1, max_size=6))
def test_the_hit_rate_is_that_of_the_course_s_metrics(rankings):
    questions = [Question(f"q{n}", gold=("a", "b")) for n in range(len(rankings))]
    by_text = {question.text: ids for question, ids in zip(questions, rankings, strict=True)}
    mine = line(compare({"s": by_text.__getitem__}, questions, k=3), "s").retrieval
    theirs = hit_rate_at_k(rankings, [["a", "b"]] * len(rankings), 3)
    assert (mine.value, mine.low, mine.high, mine.n) == (theirs.value, theirs.low, theirs.high, theirs.n)


def test_there_is_a_line_for_all_and_for_each_shape_with_its_n():
    comparison = compare({"good": good}, QUESTIONS)
    assert [(one.shape, one.asked) for one in lines(comparison)] == [
        (ALL, 3),
        ("exact identifier", 1),
        ("aggregate", 1),
        ("structural hop", 1),
    ]
    with pytest.raises(ValueError, match="no system 'gud'"):
        comparison.of("gud")


def test_a_judge_is_asked_once_an_answer_and_its_failure_is_recorded(tmp_path):
    questions = [
        Question("Who pays?", expected="the buyer", match="judge"),
        Question("When?", expected="now", match="judge"),
    ]
    asked = []

    def judge(question, answer):
        asked.append(question.text)
        if question.text == "When?":
            raise ValueError("no verdict")
        return True

    for _ in range(2):
        comparison = compare({"s": lambda question: "buyer"}, questions, judge=judge, journal=tmp_path / "j.jsonl")
    assert asked == ["Who pays?", "When?", "When?"]
    assert [one.right for one in comparison.outcomes] == [True, None]
    assert "no verdict" in comparison.outcomes[1].how


def test_agreement_with_hand_labels_is_shown():
    hand = {("good", "Which rate applies?"): True, ("good", "What is E-4471?"): True, ("other", "x"): False}
    comparison = compare({"good": good}, QUESTIONS, hand=hand)
    assert (comparison.agreement.rate.value, comparison.agreement.rate.n) == (0.5, 2)
    assert comparison.agreement.false_wrong == 1


# --- Tests, differences, decision -----------------------------------------------------------------------------------


def many(n):
    return [Question(f"q{number}", "single fact", "yes", ("a",)) for number in range(n)]


def test_a_paired_test_tells_a_difference_from_chance():
    systems = {
        "always": lambda question: ["a"],
        "never": lambda question: ["b"],
        "once": lambda q: ["a" if q == "q0" else "b"],
    }
    tests = {(one.first, one.second): one for one in paired_tests(compare(systems, many(12)))}
    assert tests["always", "never"].paired.p == pytest.approx(2 / 2**12)
    assert tests["never", "once"].paired.p == 1.0
    assert "chance alone" in str(tests["never", "once"])
    assert "more than chance" in str(tests["always", "never"])
    assert tests["always", "never"].adjusted > tests["always", "never"].paired.p


def test_the_questions_on_which_systems_differ_are_listed_with_who_got_them():
    found = differences(compare({"good": good, "ids": lambda question: ["kb-102"]}, QUESTIONS))
    assert [(one.question.text, one.measure, one.got, one.missed) for one in found] == [
        ("Which rate applies?", "retrieval", ("good",), ("ids",)),
        ("What is E-4471?", "retrieval", ("ids",), ("good",)),
    ]


def test_the_decision_is_the_cheapest_that_is_right_and_says_what_it_gives_up():
    systems = {
        "dear": lambda question: Response(ids=("a",), usd=1.0),
        "cheap": lambda question: Response(ids=("b" if question == "q0" else "a",), usd=0.1),
        "free": lambda question: Response(ids=("b",), usd=0.0),
    }
    (decision,) = decide(compare(systems, many(20)), wanted=0.9)
    assert decision.system == "cheap"
    assert "gives up 5 points against dear" in decision.gives_up
    assert decision.track == "hit rate@5 of cheap"
    (none,) = decide(compare({"free": systems["free"]}, many(20)), wanted=0.9)
    assert none.system is None
    assert "None reaches 0.90" in none.reason
    with pytest.raises(ValueError, match="wanted is 0"):
        decide(compare(systems, many(1)), wanted=0)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (Question("Which?"), "Label it first."),
        (Question("Which?", expected="12"), "cannot be scored: gold ids need systems that return ids"),
    ],
)
def test_where_nothing_was_measured_the_decision_says_what_is_missing(question, says):
    (decision,) = decide(compare({"ids": lambda text: ["a"]}, [question]))
    assert decision.reason == "Nothing was measured for it."
    assert says in decision.gives_up


def test_a_shape_that_an_interrupted_run_did_not_reach_is_not_said_to_lack_labels():
    def ask(text):
        if text == "Second?":
            raise KeyboardInterrupt
        return ["a"]

    questions = [Question("First?", "single fact", gold=("a",)), Question("Second?", "aggregate", gold=("a",))]
    first, second = decide(compare({"ids": ask}, questions))
    assert first.system == "ids"
    assert "let the run end" in second.gives_up
    assert "With 1 question the interval" in first.reason


def test_a_decision_among_systems_that_find_nothing_names_no_best_one():
    (decision,) = decide(compare({"ids": lambda text: ["b"]}, many(3)))
    assert "none is above 0.00" in decision.reason
    assert "the best" not in decision.reason


def test_each_system_that_failed_is_named_with_the_number_and_the_first_error():
    def ask(text):
        if text != "q1":
            raise LookupError("no answer to this")
        return ["a"]

    assert failures(compare({"ids": lambda text: ["a"], "old": ask}, many(3))) == [
        "old failed on 2 of 3 questions; they count as not answered and not found. The first is 'q0': "
        "LookupError: no answer to this."
    ]


# --- Going on, stopping, several at a time --------------------------------------------------------------------------


def counted(calls, cost=None):
    def ask(question):
        calls.append(question)
        return Response(ids=("a",), usd=cost, usage=Usage(3, output=1, calls=1))

    return ask


def test_a_second_run_with_the_same_journal_asks_nothing_again(tmp_path):
    calls, journal = [], tmp_path / "run ü" / "j.jsonl"
    first = compare({"s": counted(calls)}, many(4), journal=journal)
    second = compare({"s": counted(calls)}, many(6), journal=journal)
    assert calls == ["q0", "q1", "q2", "q3", "q4", "q5"]
    assert second.reused == 4
    assert second.outcomes[:4] == first.outcomes
    assert is_finished(journal)


def test_a_failure_is_asked_again_when_the_run_goes_on(tmp_path):
    calls = count()

    def at_first_down(question):
        if next(calls) == 0:
            raise ConnectionError("down")
        return ["a"]

    assert compare({"s": at_first_down}, many(2), journal=tmp_path / "j").outcomes[0].error
    assert not any(one.error for one in compare({"s": at_first_down}, many(2), journal=tmp_path / "j").outcomes)


@pytest.mark.parametrize("change", [{"name": "other"}, {"state": "new documents"}])
def test_results_of_another_system_or_other_documents_are_not_taken_over(tmp_path, change):
    calls = []
    settings = {"name": "s", "ask": counted(calls), "state": "documents"}
    compare([System(**settings)], many(1), journal=tmp_path / "j")
    compare([System(**settings)], many(1), journal=tmp_path / "j", k=9)
    compare([System(**{**settings, **change})], many(1), journal=tmp_path / "j")
    assert len(calls) == 3


def test_an_interrupt_keeps_what_is_done_and_the_next_run_goes_on(tmp_path):
    calls = []

    def interrupted(question):
        calls.append(question)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ["a"]

    half = compare({"s": interrupted}, many(5), journal=tmp_path / "j")
    assert (len(half.outcomes), half.stopped) == (2, "Interrupted after 2 of 5 results; what was there is kept.")
    assert not is_finished(tmp_path / "j")
    whole = compare({"s": interrupted}, many(5), journal=tmp_path / "j")
    assert (len(whole.outcomes), whole.stopped, len(calls)) == (5, "", 6)


def test_a_line_cut_off_by_a_power_cut_is_asked_again_and_said(tmp_path):
    journal, calls = tmp_path / "j", []
    compare({"s": counted(calls)}, many(3), journal=journal)
    text = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(text[:2]) + text[2][:20], encoding="utf-8")
    again = compare({"s": counted(calls)}, many(3), journal=journal)
    assert calls == ["q0", "q1", "q2", "q2"]
    assert again.notes[0].startswith("1 of the journal's lines")
    assert compare({"s": counted(calls)}, many(3), journal=journal).reused == 3


def test_a_file_that_is_no_journal_is_not_written_into(tmp_path):
    (tmp_path / "j").write_text("Dear diary\n", encoding="utf-8")
    with pytest.raises(JournalError, match="holds no result"):
        compare({"s": good}, QUESTIONS, journal=tmp_path / "j")
    assert (tmp_path / "j").read_text(encoding="utf-8") == "Dear diary\n"


def test_two_runs_cannot_write_one_journal(tmp_path):
    book = Journal(tmp_path / "j")
    with pytest.raises(JournalError, match="in use by another run"):
        compare({"s": good}, QUESTIONS, journal=tmp_path / "j")
    book.close()
    assert compare({"s": good}, QUESTIONS, journal=tmp_path / "j").outcomes


def test_everything_a_response_holds_comes_back_from_the_journal(tmp_path):
    response = Response(
        "", (), Usage(1, 2, 3, 4, 5), 0.5, True, 1.25, "SELECT 1", ((None, 2.5, "x\u2028"),), "why \ud800"
    )
    for _ in range(2):
        outcome = compare({"s": lambda question: response}, many(1), journal=tmp_path / "j").outcomes[0]
        assert outcome.response == response
        assert outcome.seconds == 1.25


def test_a_spending_limit_stops_before_the_question_that_could_pass_it(tmp_path):
    calls = []
    stopped = compare({"s": counted(calls, cost=0.4)}, many(5), budget=1.0, journal=tmp_path / "j")
    assert (len(calls), stopped.usd) == (2, pytest.approx(0.8))
    assert "spending limit" in stopped.stopped
    again = compare({"s": counted(calls, cost=0.4)}, many(5), budget=1.0, journal=tmp_path / "j")
    assert len(calls) == 2
    assert again.stopped
    assert len(compare({"s": counted(calls, cost=0.4)}, many(5), budget=9, journal=tmp_path / "j").outcomes) == 5


def test_the_spending_limit_holds_with_several_at_a_time():
    calls = []
    system = System("s", counted(calls, cost=0.4), most_usd=0.4)
    stopped = compare([system], many(8), budget=1.0, parallel=4)
    assert stopped.usd <= 1.0
    assert len(stopped.outcomes) == 2
    assert "spending limit" in stopped.stopped


def test_an_estimate_is_not_spent():
    ask = lambda question: Response(ids=("a",), usd=5.0, estimated=True)  # noqa: E731
    assert len(compare({"s": ask}, many(3), budget=0.0001).outcomes) == 3


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_model_s_own_limit_ends_the_run_and_a_failed_call_is_paid_for(parallel):
    calls = count()

    def ask(question):
        if next(calls) == 0:
            raise ModelError("cut off", "cut off", usd=0.3)
        raise ModelError("nothing left", "limit")

    stopped = compare({"s": ask}, many(40), budget=1.0, parallel=parallel)
    assert "nothing left" in stopped.stopped
    assert (len(stopped.outcomes), stopped.usd) == (1, 0.3)
    assert next(calls) < 40


def test_the_order_of_outcomes_does_not_depend_on_who_is_ready_first():
    gate, order = threading.Event(), []

    def ask(question):
        if question == "q0":
            gate.wait(5)
        order.append(question)
        if len(order) == 3:
            gate.set()
        return [question]

    comparison = compare({"s": ask}, many(4), parallel=2)
    assert order[0] != "q0"
    assert [one.response.ids for one in comparison.outcomes] == [("q0",), ("q1",), ("q2",), ("q3",)]


def test_no_more_than_the_limit_are_asked_at_a_time():
    lock, now, most = threading.Lock(), [0], [0]
    both = threading.Barrier(2, timeout=5)

    def ask(question):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        both.wait()
        with lock:
            now[0] -= 1
        return ["a"]

    comparison = compare({"s": ask}, many(6), parallel=2)
    assert most == [2]
    assert not any(one.error for one in comparison.outcomes)


def test_progress_is_told_from_nothing_to_all():
    told = []
    compare({"s": good}, QUESTIONS, progress=told.append)
    assert [(one.done, one.total) for one in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_the_bar_writes_a_line_each_tenth_where_there_is_no_terminal(capsys):
    tell = bar()
    for done in range(101):
        tell(Progress(done, 100, 1, 0.5))
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 11
    assert shown[-1] == f"[{'#' * 24}] 100 of 100, 1 failed, USD 0.5000"


def test_the_bar_of_a_notebook_prints_nothing_and_follows_the_run(capsys):
    line = NotebookBar()
    bundle = line._repr_mimebundle_()
    compare({"s": good}, QUESTIONS, progress=line.tell)
    assert "3 of 3" in line._line.value
    assert bundle["text/plain"]
    assert capsys.readouterr() == ("", "")


# --- Answers of what runs today -------------------------------------------------------------------------------------


def test_a_csv_of_answers_is_a_system_whose_time_is_only_what_it_says(tmp_path):
    path = tmp_path / "current.csv"
    path.write_text(
        "Question;Answer;ids;seconds;usd\nwhich RATE applies?;12 %;B | 8;2,5;0.01\nWhat is E-4471?;;;;\n", "utf-8"
    )
    comparison = compare([from_answers(path)], QUESTIONS)
    first, second, third = comparison.outcomes
    assert (first.right, first.found, first.seconds, first.response.usd) == (True, True, 2.5, 0.01)
    assert (second.response.answer, second.right, second.seconds) == ("", False, None)
    assert "current.csv holds no answer to this question" in third.error
    assert comparison.usd == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("frage,antwort\na,b\n", "no column 'question'"),
        ("question\na\n", "neither a column 'answer'"),
        ("question,answer,usd\na,b,viel\n", "row 2: usd is 'viel'"),
        ("question,answer\na,b\nA,c\n", "row 3 answers a question again"),
    ],
)
def test_a_csv_of_answers_that_cannot_be_used_says_why(tmp_path, text, said):
    path = tmp_path / "current.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(QuestionsError, match=said):
        from_answers(path)


@given(st.text(), st.text(), st.lists(st.text()))
def test_any_text_in_questions_answers_and_ids_is_compared_and_kept(tmp_path_factory, question, text, ids):
    journal = tmp_path_factory.mktemp("j") / "j.jsonl"
    questions = [Question(question, expected=text, gold=tuple(dict.fromkeys(ids)))]
    for _ in range(2):
        (outcome,) = compare({"s": lambda q: (text, ids)}, questions, journal=journal).outcomes
        assert outcome.right is True
        assert outcome.error == ""
    assert json.loads(journal.read_text(encoding="utf-8").split("\n")[0])["question"] == question
