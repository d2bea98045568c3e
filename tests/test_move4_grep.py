"""Move 4's lesson: its questions, its exercises with every wrong answer, the scripts, the experiment, the explorer."""

import sys
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora import standard_library
from course_lib.corpora.repository import QUESTION, files
from course_lib.dense import load_encoder, read_vectors, save_vectors, text_key
from course_lib.grep import (
    Answer,
    Call,
    Memory,
    Ranked,
    Timing,
    grep,
    measure_backtracking,
    read,
    scripted,
    search_loop,
    tool_text,
)
from course_lib.learn.blank import ____
from course_lib.learn.look import to_text
from course_lib.lessons import move4_grep as move4
from course_lib.lessons.move4_grep import agents, exercises, experiment, keeping, lesson, watching
from course_lib.retrieval import Hit
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason

REPO = Memory(files())
REFERENCE = sys.version_info[:2] == (3, 11)  # the library differs between versions, and so do its counts


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "again_zero": "none",
    "again_words": [],
    "trap": 3,
    "retries": 4,
    "carried": 14400,
    "backtrack": 2.0,
    "orders": ["runbook", "answer"],
    "gains": ["paraphrase", "number behind a constant"],
    "stale": ["grep"],
}


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_option_that_can_be_wrong_says_why_it_is_tempting(question):
    every_option_that_can_be_wrong_says_why(question, ACTUAL[question.key])


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_wrong_answer_to_every_question_gets_its_reason(question):
    every_wrong_answer_gets_its_reason(lesson, question, ACTUAL[question.key])


@pytest.mark.parametrize(
    ("key", "value", "option"),
    [
        ("again_zero", "allow-list", "allow-list"),
        ("again_words", ["kb-106"], "right"),
        ("again_words", ["kb-101"], "wrong"),
        ("trap", None, "no number"),
        ("trap", 2, "two"),
        ("retries", 5, "5"),
        ("carried", 3200, "3200"),
        ("backtrack", 1.05, "1.2"),
        ("backtrack", 1.1, "1.4"),
        ("backtrack", 4.0, "256"),
        ("backtrack", inf, "16"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_questions_from_before_have_the_answers_that_their_libraries_compute():
    sql = "SELECT COUNT(*) FROM tickets WHERE team = 'Berlin' AND status = 'Open'"
    assert move4.stopped_by_guard(sql) == ACTUAL["again_zero"]
    assert move4.stopped_by_guard("DELETE FROM tickets") == "allow-list"
    assert move4.support_search()("tap to pay stopped working", 3) == []


# --- figures G1 to G5 ---


def test_the_first_search_finds_the_retries_of_others():
    found = grep(REPO, "retr")
    assert [f"{hit.path}:{hit.line}" for hit in found.matches] == [
        "payments/config.py:3",
        "payments/cards.py:1",
        "payments/cards.py:4",
        "billing/retry.py:1",
        "billing/retry.py:2",
    ]
    assert move4.first_number(found) == ACTUAL["trap"]
    assert move4.first_number(grep(REPO, "rate.?limit")) is None


def test_the_second_search_and_the_read_show_what_the_name_hides():
    assert len(grep(REPO, "webhook.*(retr|attempt)").matches) == 5
    assert str(read(REPO, "payments/webhooks.py", 3, 9)).startswith("3: def deliver(event):")
    sent, waits, dead = move4.deliver_in_vain(files())
    assert (sent, waits, dead) == (5, [1, 5, 30, 120], 1)
    assert sent - 1 == ACTUAL["retries"]


def test_a_delivery_is_counted_from_the_files_and_not_from_a_constant_of_ours():
    changed = {**files(), "payments/config.py": "WEBHOOK_MAX_ATTEMPTS = 2\nWEBHOOK_BACKOFF_SECONDS = [9]\n"}
    assert move4.deliver_in_vain(changed) == (2, [9], 1)


def test_the_rate_limit_is_found_by_a_synonym_and_a_flood_is_cut_with_a_count():
    assert grep(REPO, "rate.?limit").outcome == "nothing found"
    assert [hit.path for hit in grep(REPO, "throttle|per.?minute|quota").matches] == ["notifications/mailer.py"]
    assert (len(grep(REPO, "webhook").matches), grep(REPO, "webhook").cut) == (5, 3)


def test_the_time_of_python_s_re_grows_by_a_factor_and_that_of_a_linear_engine_does_not():
    lengths = (18, 21)
    timings = measure_backtracking("(a+)+$", [move4.hostile(n) for n in lengths], seconds=20)
    assert move4.growth_of(timings) > 1.4  # 2 on a machine with nothing else to do
    linear = move4.linear_seconds("(a+)+$", [20, 2000])
    assert linear[1] < 50 * linear[0]
    assert "re, times its first" in to_text(move4.show_growth(timings, [1.0, 1.0]).html)


def test_the_growth_is_read_off_the_searches_that_ended():
    timings = [Timing(10, 0.1), Timing(12, 0.4), Timing(14, "stopped")]
    assert move4.growth_of(timings) == pytest.approx(2)
    assert move4.growth_of(timings[2:]) == inf
    shown = to_text(move4.show_growth(timings, [1.0, 1.0, 1.0]).html)
    assert "14 stopped 1.0" in shown
    assert "stopped" in to_text(move4.show_growth(timings[2:], [1.0]).html)


# --- orders in a file ---


def test_of_five_orders_only_the_harmless_read_and_the_false_answer_are_carried_out():
    run = move4.obeyed(files(), QUESTION)
    assert move4.orders_done(run) == ACTUAL["orders"]
    assert [step.refused for step in run.steps] == [False, True, True, True, False]
    assert not any("not-a-real-key" in step.result for step in run.steps)
    shown = to_text(move4.show_run(run).html)
    assert "kept secret" in shown
    assert "retried 9 times" in shown


def test_a_policy_that_obeys_nothing_is_not_moved_by_the_same_file():
    moves = [Call("read", {"path": "payments/legacy.py"}), Answer("Four retries.")]
    run = search_loop(QUESTION, scripted(moves), move4.with_orders(files()))
    assert ([step.call.tool for step in run.steps], run.answer) == (["read"], "Four retries.")


def test_html_in_a_file_is_shown_as_text():
    repository = Memory({"a.py": "<img src=x onerror=1>\n"})
    run = search_loop("?", scripted([Call("read", {"path": "a.py"}), Answer("<script>")]), repository)
    assert "<img" not in move4.show_run(run).html
    assert "<script>" not in move4.show_run(run).html


# --- the tool that ranks ---


def ranked(question, k):
    return [Hit("a.py:f", 1.0, "def f():\n    return '\x1b[2J'")][:k]


def test_a_ranking_search_is_on_the_list_only_where_there_is_one():
    call = Call("search", {"query": "retries"})
    without = search_loop("?", scripted([call]), REPO)
    assert without.steps[0].result == "There is no tool 'search'; there are grep and read."
    beside = search_loop("?", scripted([call, Call("rm", {})]), REPO, ranked=ranked)
    assert isinstance(beside.steps[0].value, Ranked)
    assert beside.steps[0].result == "a.py:f\ndef f():\n    return '\\x1b[2J'"
    assert beside.steps[1].result == "There is no tool 'rm'; there are grep and read and search."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({}, "needs query"), ({"query": 3}, "must be a text"), ({"query": "x", "k": 99}, "k is 99")],
)
def test_a_wrong_call_of_the_ranking_search_comes_back_as_a_sentence(arguments, says):
    run = search_loop("?", scripted([Call("search", arguments)]), REPO, ranked=ranked)
    assert run.steps[0].refused
    assert says in run.steps[0].result


def test_a_ranking_search_that_finds_nothing_says_so():
    assert tool_text(Ranked("x", ())) == "Nothing was found."


# --- the scripts ---


def test_a_name_of_code_is_typed_as_it_stands_and_else_the_longest_word():
    assert agents.one_pattern("How wide may a line get in pprint.pformat by default?") == r"\bpformat\b"
    assert agents.names_in("argparse's HelpFormatter (max_help_position)?") == ["max_help_position", "HelpFormatter"]
    assert agents.names_in("How long may the request line of an HTTP server be?") == []
    assert agents.one_pattern("?") == "TODO"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_question_becomes_patterns_that_can_be_searched_for(question):
    for pattern in [agents.one_pattern(question), *agents.patterns(question)]:
        grep(REPO, pattern)


def test_a_script_reads_around_a_hit_and_looks_the_constant_up():
    def looked_up(step):
        return str(step.call.arguments.get("pattern", "")).endswith("=") and "MAX_ATTEMPTS = 5" in step.result

    repository = Memory(dict(list(files().items())[1::-1]))  # the code before the settings
    run = search_loop("?", agents.policy(agents.grep_agent("webhook attempts"), looked_up), repository)
    assert [step.call.tool for step in run.steps] == ["grep", "read", "grep"]
    assert run.ended == "answered"


def test_a_script_stops_at_its_budget_and_never_repeats_a_call():
    ask = agents.both("How long does a program doze at most between two looks at whether a child has finished?")
    run = search_loop("?", agents.policy(ask, lambda step: False), REPO, experiment.BUDGET, ranked=ranked)
    assert len(run.steps) <= experiment.BUDGET.calls
    assert len({str(step.call) for step in run.steps}) == len(run.steps)
    assert run.answer is None


# --- the experiment ---


def test_the_vectors_of_the_listed_functions_and_of_the_questions_are_in_the_file():
    known = read_vectors(standard_library.VECTORS)
    missing = [text for text in standard_library.cached_texts() if text_key(text) not in known]
    if REFERENCE:
        assert missing == []
        assert len(known) == 300 + 47
    assert all(text_key(question.text) in known for question in standard_library.questions())
    assert standard_library.VECTORS.stat().st_size < 400_000


def test_the_file_of_vectors_is_what_the_encoder_makes(tmp_path):
    sample = sorted(standard_library.cached_texts(), key=len)[::70]
    save_vectors(tmp_path / "fresh.npz", sample, load_encoder(backend="numpy"))
    known = read_vectors(standard_library.VECTORS)
    for key, row in read_vectors(tmp_path / "fresh.npz").items():
        assert key not in known or float(row @ known[key]) > 0.9999


def test_every_way_answers_every_question_on_the_list_and_vectors_gain_where_words_are_missing():
    outcomes = move4.on_the_list()
    counts = experiment.rates(outcomes)
    assert {name: n for name, (_, n) in counts["one grep"].items()} == {
        "named identifier": 11, "named behaviour": 11, "paraphrase": 11, "number behind a constant": 14,
    }  # fmt: skip
    if REFERENCE:
        assert move4.gains(outcomes, "grep, synonyms", "grep + MiniLM") == ACTUAL["gains"]
        assert [right for right, _ in counts["grep, synonyms"].values()] == [11, 11, 3, 9]
        assert [right for right, _ in counts["BM25"].values()] == [11, 10, 2, 11]
        assert [right for right, _ in counts["MiniLM"].values()] == [11, 11, 7, 13]
        assert [right for right, _ in counts["grep + MiniLM"].values()] == [11, 11, 9, 13]
    for shown in (move4.show_rates(outcomes), move4.show_costs(outcomes)):
        assert "grep + BM25" in to_text(shown.html)


def test_only_a_search_that_ranks_has_an_interval_and_a_script_has_none():
    rows = move4.show_rates(move4.on_the_list()).html.split("<tr")
    with_interval = [row for row in rows if "–" in row]
    assert with_interval
    assert all(">BM25<" in row or ">MiniLM<" in row for row in with_interval)
    assert not any("grep" in row for row in with_interval)


def test_minilm_is_left_out_where_too_much_would_have_to_be_encoded(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(standard_library, "VECTORS", tmp_path / "none.npz")
    assert experiment.by_vectors.__wrapped__() is None  # past the cache, which other tests use
    assert "MiniLM is left out" in capsys.readouterr().out


def test_without_minilm_its_ways_are_left_out_and_nothing_fails(monkeypatch):
    monkeypatch.setattr(experiment, "by_vectors", lambda: None)
    monkeypatch.setattr(keeping, "by_vectors", lambda: None)
    tried = experiment.ways(experiment.by_words())
    assert [way.name for way in tried] == ["one grep", "grep, synonyms", "BM25", "grep + BM25"]
    assert [one.way for one in move4.ask_again(move4.edited_copy())] == ["grep", "BM25"]
    asked = standard_library.questions()[:2]
    outcomes = [
        experiment.outcome(way, one, experiment.listed(), experiment.shows_function) for way in tried for one in asked
    ]
    assert move4.gains(outcomes, "grep, synonyms", "grep + MiniLM") == []


@pytest.mark.parametrize("number", [0, 15, 30, 40])
def test_a_value_is_shown_by_its_line_and_by_nothing_else(number):
    question = standard_library.questions()[number]
    anchor, where = question.anchor_file, experiment.repository()
    right = [Call("read", {"path": anchor, "start": question.line, "end": question.line})]
    wrong = [Call("read", {"path": anchor, "start": question.line + 1, "end": question.line + 9})]
    assert [experiment.shows_value(question, step) for step in search_loop("?", scripted(right), where).steps] == [True]
    assert [experiment.shows_value(question, step) for step in search_loop("?", scripted(wrong), where).steps] == [
        False
    ]
    inside = question.file == anchor and question.start <= question.line <= question.end
    gold = search_loop(
        "?", scripted([Call("search", {"query": "?"})]), where, ranked=lambda q, k: [Hit(question.gold, 1)]
    )
    assert experiment.shows_value(question, gold.steps[0]) is inside


def test_a_number_behind_a_constant_takes_a_grep_after_the_search():
    question = next(one for one in standard_library.questions() if one.gold == "tempfile.py:_mkstemp_inner")
    function = next(one for one in standard_library.functions() if one.id == question.gold)
    hit = Hit(function.id, 1.0, function.chunk)
    way = experiment.Way("found it", agents.both, lambda asked, k: [hit])
    once = experiment.Way("once", agents.one_search, lambda asked, k: [hit])
    where = experiment.repository()
    both = experiment.outcome(way, question, where, experiment.shows_value)
    assert both.success
    assert [step.call.tool for step in both.run.steps][:2] == ["search", "grep"]
    assert not experiment.outcome(once, question, where, experiment.shows_value).success


def test_every_function_of_the_library_holds_the_listed_ones():
    every = {one.id for one in standard_library.every_function()}
    assert {one.id for one in standard_library.functions()} <= every
    assert len(every) > 10_000
    assert not any("site-packages" in id for id in every)


# --- what an index costs ---


def test_encoding_is_measured_in_a_process_of_its_own_or_said_not_to_be(monkeypatch):
    outcomes = move4.on_the_list()
    monkeypatch.setattr(keeping, "encoding_seconds", lambda: None)
    assert "not measured here" in to_text(move4.show_seconds(outcomes).html)
    monkeypatch.setattr(keeping, "encoding_seconds", lambda: {"functions": 1.0, "questions": 1.0})
    assert "not measured" not in to_text(move4.show_seconds(outcomes).html)


def test_an_encoder_that_cannot_run_gives_no_time(monkeypatch):
    keeping.encoding_seconds.cache_clear()
    monkeypatch.setattr(keeping, "_CHILD", "raise SystemExit(3)")
    assert keeping.encoding_seconds() is None
    keeping.encoding_seconds.cache_clear()


def test_after_an_edit_only_grep_shows_what_stands_in_the_file():
    copy = move4.edited_copy()
    seen = move4.ask_again(copy)
    assert [one.way for one in seen if one.fresh] == ACTUAL["stale"]
    assert keeping.NEW not in (standard_library.root() / "difflib.py").read_text(encoding="utf-8")
    assert sorted(path.name for path in Path(copy.root).iterdir()) == ["difflib.py"]
    assert "stale" in to_text(move4.show_seen(seen).html)


# --- the explorer ---


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "matching lines are shown"),
        ({"where": "the six files", "pattern": "webhook"}, "5 of 8 matching lines"),
        ({"where": "the six files", "pattern": "webhook", "hits": 8}, "8 of 8 matching lines"),
        ({"where": "the six files", "pattern": "throttle", "context": 1}, "notifications/mailer.py-1- def send(msg):"),
        ({"where": "the six files", "pattern": "THROTTLE", "capitals": True}, "nothing found"),
        ({"where": "the six files", "pattern": "rate.?limit"}, "No line matches in 6 files"),
        ({"where": "the six files", "pattern": "def", "width": 20}, "def"),
        ({"pattern": "(a"}, "Refused"),
        ({"pattern": ""}, "Refused"),
        ({"pattern": "(?<=x)y"}, "look-around"),
        ({"path": "../etc"}, "climbs out"),
        ({"path": "no such folder"}, "No such place"),
        ({"path": "http", "pattern": "timeout"}, "http/"),
        ({"pattern": "<b>what</b> about $0$?"}, "nothing found"),
        ({"later": 0}, "with 0 calls after it"),
    ],
)
def test_the_explorer_says_what_a_search_brings_or_why_there_is_none(values, says):
    shown = move4.search_explorer().at(**values)
    assert says in to_text(shown.html)
    assert "data-error" not in shown.html


def test_the_explorer_says_that_the_time_ran_out_and_not_that_nothing_was_found(monkeypatch):
    from course_lib.grep import ripgrep
    from course_lib.lessons.move4_grep import explorer

    class Late(Memory):
        def listing(self, path=""):
            raise ripgrep.TimedOut

    monkeypatch.setattr(explorer, "place", lambda where: Late({"a.py": "x\n"}))
    shown = to_text(move4.search_explorer().at(pattern="x", seconds=1).html)
    assert "timed out: how many lines match is not known" in shown
    assert "does not mean that nothing matches" in shown


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=40), st.text(max_size=20))
def test_whatever_is_typed_into_the_explorer_is_answered(pattern, path):
    shown = move4.search_explorer().at(where="the six files", pattern=pattern, path=path)
    assert "data-error" not in shown.html


def test_what_a_file_holds_is_escaped_and_its_price_grows_with_the_calls(monkeypatch):
    from course_lib.lessons.move4_grep import explorer

    monkeypatch.setattr(explorer, "place", lambda where: Memory({"a.py": "<img src=x onerror=1> $x$\n"}))
    shown = move4.search_explorer().at(pattern="img", later=3).html
    assert "<img" not in shown
    numbers = [line.split()[-2] for line in to_text(shown).splitlines()[-3:]]
    assert int(numbers[1]) == 4 * int(numbers[0]) == int(numbers[2])


# --- secrets ---


def test_a_key_is_blacked_out_denied_by_name_or_counted_as_not_searched():
    leaky = move4.leaky()
    found = grep(leaky, "key|AWS")
    assert [str(hit) for hit in found.matches] == ['settings.py:2: AWS = "[redacted: access key]"']
    assert "1 binary, 2 secret" in found.note
    assert grep(leaky, "AKIA").outcome == "nothing found"
    assert grep(leaky, "x", "logo.png").outcome == "nothing searched"
    with pytest.raises(ValueError, match="kept secret"):
        read(leaky, ".env")


# --- exercises ---


def judged(key, answer):
    return lesson.check(key, answer)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("rate.?limit", "does not find the line that slows the mails down"),
        ("throttle", "it misses 4"),
        ("throttle|per.?minute|quota", "it misses 3"),
        ("throttle|rate|quota|per", "also 4 lines about something else, such as reports/render.py:1"),
        ("throttle|quota|rate.?limit|second|hour", "also a line about something else, such as ops/run.py:2: return"),
        ("(throttle", "cannot be read"),
        ("(?=throttle)", "look-around"),
        (5, "A pattern is a text"),
    ],
)
def test_a_wrong_pattern_is_told_what_it_does_and_never_a_word_of_the_answer(pattern, says):
    feedback = judged("throttle", pattern)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_a_pattern_with_the_words_of_others_passes_and_a_blank_is_not_attempted():
    assert judged("throttle", "rate.?limit|throttl|quota|per.?(second|minute|hour|day)").outcome == "right"
    assert judged("throttle", ____).outcome == "not attempted"


def cap(count, cut_if, keep=lambda hits, most: hits[:most]):
    def capped(hits, most):
        cut = count(hits, most)
        return keep(hits, most) + ([f"… {cut} more hits; narrow the pattern"] if cut_if(cut) else [])

    return capped


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda hits, most: hits[:most], "One line more has to say so"),
        (lambda hits, most: hits, "One line more has to say so"),
        (cap(lambda hits, most: len(hits), lambda cut: cut > 5), "how many hits are not shown"),
        (cap(lambda hits, most: len(hits) - most, lambda cut: cut >= 0), "nothing to tell"),
        (cap(lambda hits, most: len(hits) - most, lambda cut: True), "nothing to tell"),
        (lambda hits, most: [*hits[:most], "more hits"] if len(hits) > most else hits, "how many hits are not shown"),
        (lambda hits, most: hits[-most:], "The first 5 hits are wanted"),
        (lambda hits, most: "\n".join(hits), "A list of texts is wanted"),
    ],
)
def test_a_wrong_cap_is_told_what_it_did(function, says):
    feedback = judged("capped", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_the_right_cap_passes_and_a_blank_is_not_attempted():
    assert judged("capped", cap(lambda hits, most: len(hits) - most, lambda cut: cut > 0)).outcome == "right"
    assert judged("capped", lambda hits, most: ____).outcome == "not attempted"
    assert judged("capped", lambda hits, most: [*hits[:most], ____]).outcome == "not attempted"
    assert judged("capped", lambda hits, most: hits[most + 1 :][0]).outcome == "error"


def by_letters(root, path):
    return str((root / path).resolve()).startswith(str(root.resolve()))


def without_following(root, path):
    return ".." not in Path(path).parts and not Path(path).is_absolute()


def any_two_dots(root, path):
    return ".." not in path and (root / path).resolve().is_relative_to(root.resolve())


def dots_only(root, path):
    return (root / path).is_relative_to(root)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (by_letters, "It let '../repo-old/keys.txt' pass"),
        (dots_only, "It let '../repo-old/keys.txt' pass"),
        (any_two_dots, "It refused 'payments/..cards.py'"),
        (lambda root, path: False, "It refused 'payments/cards.py'. That lies in the repository."),
        (lambda root, path: None, "it returned None; True or False is wanted"),
        (lambda root, path: path, "True or False is wanted"),
    ],
)
def test_a_wrong_path_check_is_told_which_path_it_let_pass_or_refused(function, says):
    feedback = judged("inside", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)
    assert ("two dots" in repr(feedback)) == (function is any_two_dots)


def test_a_path_check_that_follows_no_link_is_told_so_where_links_can_be_made(tmp_path):
    try:
        (tmp_path / "link").symlink_to(tmp_path)
    except OSError:
        pytest.skip("this user may not make links")
    assert "follow it, and you are in repo-old" in repr(judged("inside", without_following))


def test_the_right_path_check_passes_without_links_too(monkeypatch):
    def right(root, path):
        return (root / path).resolve().is_relative_to(root.resolve())

    assert judged("inside", right).outcome == "right"
    assert judged("inside", lambda root, path: ____).outcome == "not attempted"

    def refused(self, target, target_is_directory=False):
        raise OSError("a required privilege is not held")

    monkeypatch.setattr(Path, "symlink_to", refused)
    assert judged("inside", right).outcome == "right"
    assert judged("inside", without_following).outcome == "right"  # all that can be tried there


@pytest.mark.parametrize("key", ["throttle", "capped", "inside"])
def test_hint_and_solution_can_be_asked_for(key):
    assert "Hint" in repr(lesson.hint(key))
    assert exercises.THROTTLE.solution.split()[0] in repr(lesson.solution(key)) or "def " in repr(lesson.solution(key))


def test_the_orders_name_each_option_of_the_question():
    options = {option.name for option in lesson.questions["orders"].options}
    assert options == {*watching.NAMES.values(), "answer"}
