"""Move 5's lesson: its questions, five claims, the router's choices, three challenges, its explorer, its exercises."""

import pytest

from course_lib.choosing.costs import SHAPES
from course_lib.choosing.router import RULES
from course_lib.corpora import support_kb
from course_lib.dense import CachedEncoder, load_encoder
from course_lib.learn.blank import ____
from course_lib.learn.keepsake import keepsake
from course_lib.learn.look import to_text
from course_lib.lessons import move5_choosing as move5
from course_lib.lessons.move5_choosing import challenges, deciding, lending, lesson, reviewing
from course_lib.lessons.move5_choosing.exercises import LADDERS
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


@pytest.fixture(autouse=True)
def no_weights(monkeypatch):
    """Every text that the lesson encodes is in a file of vectors."""

    def refuse(self, texts):
        unknown = [text for text in texts if support_key(text) not in self._known]
        assert not unknown, unknown[:1]
        return encode(self, texts)

    from course_lib.dense import text_key as support_key

    encode = CachedEncoder.encode
    monkeypatch.setattr(CachedEncoder, "encode", refuse)


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "again_count": {"all five": True, "tokens": 499},
    "again_synonym": {"rate.?limit": 0, "quota|limiter": 0, "throttle|per.?minute": 1},
    "claims": ["one encoding", "one metric"],
    "astray": ["competitors", "fees", "tap to pay", "refund"],
    "held_out": 33,
    "vague": [],
    "boost": ["1.5"],
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
        ("again_count", {"all five": False, "tokens": 499}, "gaps"),
        ("again_count", {"all five": True, "tokens": 50_000}, "cost"),
        ("again_synonym", {"a": 0, "b": 0}, "no limit"),
        ("held_out", 42, "40"),
        ("held_out", 20, "21"),
        ("vague", ["run_sql"], "run_sql"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_questions_from_before_have_the_answers_that_their_libraries_compute():
    assert (move5.rows_that_count(10), move5.rows_that_count(20)) == (3, 5)
    assert move5.tokens_of_rows(20) == ACTUAL["again_count"]["tokens"]
    assert move5.lines_found() == ACTUAL["again_synonym"]


# --- figure C1 ---


def test_the_five_tests_bear_out_two_statements_and_none_of_the_memos():
    scores = {name: move5.one_score(name) for name in ("identifiers", "paraphrases")}
    assert move5.borne_out(move5.measured_speeds(), move5.corrected(), scores) == ACTUAL["claims"]


def test_the_search_is_a_small_part_of_the_wait_and_the_saving_with_it():
    lines = move5.measured_speeds()
    assert all(line.share < 0.1 for line in lines)
    assert reviewing.saved(lines) < 0.1
    assert "not measured" in to_text(move5.show_speeds(lines).html)


def test_what_leaves_is_the_same_for_bm25_and_for_an_encoder_of_ones_own():
    rows = {line.rsplit(" ", 3)[0]: line for line in to_text(move5.show_leaving().html).splitlines()}
    assert rows["BM25 passages,"].removeprefix("BM25") == rows["dense, own encoder passages,"].removeprefix(
        "dense, own encoder"
    )
    assert "every document, question every document, question" not in rows


def test_one_article_is_one_row_or_one_text_and_a_new_model_is_all():
    done = move5.corrected()
    assert (done.bm25_rows, done.dense_encoded, done.new_analyzer_rows, done.new_model_encoded) == (1, 1, 8, 8)
    assert done.found == (True, True)


def test_dense_and_bm25_are_scored_by_one_metric_and_neither_wins_everywhere():
    codes, facts = (move5.one_score(name) for name in ("identifiers", "paraphrases"))
    assert codes["BM25"].value == 1.0
    assert facts["BM25"].value == 0.0
    assert facts["dense, own encoder"].value == 0.75
    assert move5.one_score()["BM25"].n == len(support_kb.labelled_questions())
    alike = move5.code_rates(k=1)
    assert alike["BM25"].value > 0.9 > 0.1 > alike["dense, own encoder"].value
    assert alike["BM25"].n == 120


def test_bm25_without_its_rule_for_no_evidence_has_as_many_parts_as_vectors_and_not_fewer():
    counts = reviewing.part_counts()
    assert counts["BM25"] - 1 == counts["dense, own encoder"]


# --- figure C2 ---


def test_the_rules_send_four_of_the_six_questions_astray():
    assert move5.sent_astray() == ACTUAL["astray"]
    shown = to_text(move5.show_routes().html)
    assert shown.count("no rule met") == 2
    assert all(text in shown for text in lending.ASTRAY.values())


def test_the_rules_are_right_on_the_half_they_saw_and_less_so_on_the_other():
    tuned, unseen = move5.select_half("tuning"), move5.select_half("held out")
    assert tuned.accuracy.value == 1.0
    assert sum(choice.right for choice in unseen.choices) == ACTUAL["held_out"]
    assert move5.kinds_of_misses(unseen) == {"no tool at all": 7, "another tool": 0, "a tool where none may act": 2}


def test_the_confusion_table_has_a_row_for_each_tool_and_a_word_for_the_share():
    shown = to_text(move5.show_selection(move5.select_half("held out")).html)
    assert len(shown.splitlines()) == 8
    assert "0.79 (n = 42" in shown


def test_every_rule_and_every_description_is_shown():
    assert len(to_text(move5.show_rules().html).splitlines()) == len(RULES) + 1
    assert len(to_text(move5.show_tools().html).splitlines()) == 6
    assert "Gets data." in to_text(move5.show_descriptions().html)


def test_the_stand_in_finds_the_tool_by_its_description_and_none_by_a_vague_one():
    question = "How many P1 tickets are open for the Berlin team?"
    assert move5.run(question).tools == ["count_tickets"]
    assert move5.run("terminal shows E-4417").tools == ["search_kb"]
    assert move5.run(question, vague=True).tools == ACTUAL["vague"]
    changed = to_text(move5.show_changed().html).splitlines()
    assert all(line.endswith("no tool") for line in changed[1:])
    assert len(changed) > 4


def test_a_result_that_holds_html_is_shown_as_text():
    assert "<img" not in move5.show_runs([move5.run("terminal shows <img src=x onerror=1> E-4417")]).html


def test_without_a_key_nothing_is_sent_and_it_says_what_would_be_and_at_most_what_it_costs(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    shown = to_text(move5.ask_live().html)
    assert "nothing was sent" in shown
    assert "count_tickets" in shown
    assert "At most" in shown
    assert f"USD {lending.LIMIT:.2f}" in shown


# --- figure C3: three challenges ---


def test_no_number_of_chunks_brings_the_table_and_following_the_reference_does_for_the_least():
    rungs = move5.rungs()
    assert [key for key, rung in rungs.items() if rung.found] == ["follow", "navigate", "whole"]
    assert min(rungs, key=lambda key: rungs[key].usd) == "follow"
    assert rungs["follow"].share.n == 24
    shown = to_text(move5.show_rungs().html)
    assert shown.count("found") == 3
    assert "Appendix 2" in to_text(move5.cited_section().html)


def test_twelve_policies_do_not_fit_the_window_at_these_prices():
    assert sum(challenges.library().tokens.values()) > lending.price().window
    assert "everything" not in move5.rungs()


def test_the_quarter_is_082_of_the_ledger_and_nothing_fires():
    quarters = move5.quarters()
    assert round(quarters["as it is"].share, 2) == 0.82
    assert "No layer of the guard fired." in to_text(move5.show_first_answer().html)
    assert [key for key, one in quarters.items() if one.reconciled] == ["meanings", "view"]
    assert "5 invoices" in to_text(move5.show_quarters().html)


def test_after_the_import_two_posts_stand_before_the_article_and_three_repairs_serve_both_sides():
    assert move5.outcomes()["nothing"].rank == 3
    assert {one.key for one in move5.the_import().attempts if one.solves} == {"boost 1.5", "fused", "places"}
    lines = to_text(move5.show_first_hits().html).splitlines()
    assert ["forum" in line for line in lines[2:5]] == [True, True, False]
    assert "5,000 posts" in lines[-1]


def test_one_factor_holds_in_three_imports_and_a_weaker_and_a_stronger_do_not():
    months = move5.boosted_months((1.2, 1.5, 3))
    assert len(months) == 3
    assert move5.holds_every_month(months) == ACTUAL["boost"]
    assert all(found[1.2].official[0].value < 1 or found[1.2].forum[1].value < 1 for found in months.values())
    assert all(found[3].official[0].value == 1.0 > found[3].forum[1].value for found in months.values())
    assert to_text(move5.show_months(months).html).count("not both") == 6


ATTEMPTS = {
    "limit": (move5.limit_attempts, move5.the_limit),
    "quarter": (move5.quarter_attempts, move5.the_quarter),
    "import": (move5.forum_attempts, move5.the_import),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_every_attempt_on_the_list_can_be_put_into_an_order(name):
    listed, challenge = (make() for make in ATTEMPTS[name])
    assert [one.key for one in listed] == [one.key for one in challenge.attempts]
    shown = to_text(move5.follow(challenge, [one.key for one in listed]).html)
    assert "That solves it." in shown
    assert all(repr(one.key) in to_text(move5.show_attempts(listed).html) for one in listed)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_the_list_of_attempts_does_not_say_which_of_them_solves_it(name):
    shown = to_text(move5.show_attempts(ATTEMPTS[name][0]()).html)
    assert "solves" not in shown
    assert "%" not in shown


def test_feedback_follows_the_order_that_was_chosen():
    one = to_text(move5.follow(move5.the_limit(), ["k 50", "follow"]).html)
    other = to_text(move5.follow(move5.the_limit(), ["follow", "k 50"]).html)
    assert "Tried in vain before it" in one
    assert "Your first attempt solves it." in other
    assert "not needed any more" in other


def test_an_open_order_is_told_the_keys_and_a_wrong_one_the_nearest():
    assert "No order yet" in to_text(move5.follow(move5.the_quarter(), ____).html)
    assert "did you mean 'view'?" in to_text(move5.follow(move5.the_quarter(), ["veiw"]).html)
    assert "a list of attempts" in to_text(move5.follow(move5.the_quarter(), "view").html)
    for odd in (7, None, {"view"}, []):
        shown = to_text(move5.follow(move5.the_quarter(), odd).html)
        assert "a list of attempts is needed" in shown
        assert "'view'" in shown
    for odd in (["view"], 1, None):
        assert "is no key" in to_text(move5.follow(move5.the_quarter(), [odd]).html)
    assert "still a ____" in to_text(move5.follow(move5.the_quarter(), ["view", ____]).html)
    assert "<img" not in move5.follow(move5.the_quarter(), ["<img src=x onerror=1>"]).html


# --- the explorer, the cheat sheet ---


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "routing pays"),
        ({"error": 0}, "routing does not pay"),
        ({"error": 0}, "USD 1.13 a day"),
        ({"fact": 0, "count": 0}, "routing does not pay"),
        ({"fact": 0, "count": 0, "rules": False}, "routing does not pay"),
        ({"rules": False}, "always right"),
        ({"fact": 0, "code": 0, "hop": 0}, "One design for everything: SQL or API"),
        ({"upkeep": 0}, "from where a wrong answer costs USD 0.231, MiniLM chunks wins"),
        ({"upkeep": 50}, "questions a day, MiniLM chunks wins"),
        ({"fact": 0, "code": 0, "count": 0, "hop": 0}, "Nobody asks anything"),
        ({"sql": 0, "live": 5}, "fast-changing source"),
    ],
)
def test_the_explorer_says_who_wins_and_where_it_flips(settings, says):
    shown = move5.cost_explorer().at(**settings)
    assert says in to_text(shown.html)
    assert "data-error" not in shown.html


@pytest.mark.parametrize("price", deciding.prices())
def test_the_explorer_takes_every_price(price):
    assert "wins over" in to_text(move5.cost_explorer().at(price=price, upkeep=0).html)


def test_at_a_flip_of_one_shape_two_designs_cost_the_same():
    from dataclasses import replace

    from course_lib.choosing.costs import Situation, expected, flips_by_error_cost

    tried = [replace(one, upkeep=0.0) for one in deciding.candidates(lending.price(), 200, 2.0, 0.9)]
    now = Situation(dict.fromkeys(SHAPES, 1.0))
    [flip] = flips_by_error_cost(tried, now, "aggregate")
    by_name = {one.name: one for one in tried}
    there = replace(now, error_cost=flip.at)
    before, after = (expected(by_name[name], there, "aggregate") for name in (flip.before, flip.after))
    assert before == pytest.approx(after)


def test_the_shares_are_those_that_were_measured():
    shares = deciding.shares()
    assert shares["BM25 chunks"]["exact identifier"] == deciding.code_rates()["BM25"].value == 1.0
    assert shares["sections + references"]["structural hop"] == move5.rungs()["follow"].share.value
    assert all(set(of) == set(SHAPES) for of in shares.values())
    assert "24 hops" in to_text(move5.show_shares().html)


def test_a_row_of_the_cheat_sheet_has_the_number_it_was_given_or_says_that_there_is_none():
    shown = to_text(move5.show_sheet(move5.sheet({"wrong sum": 0.5, "counts": (10, 3, 5)})).html)
    assert "0.50 of the ledger" in shown
    assert "3 of the 5" in shown
    assert shown.count("not measured") == 8


def test_the_cheat_sheet_fits_the_page_to_keep_and_the_headings_come_first():
    rows = move5.sheet({"wrong sum": 0.5})
    assert rows[0][0] == "Symptom"
    page = to_text(keepsake(lesson.record, rows, notebooks=""))
    assert all(cell in page for row in rows for cell in row)
    assert page.index("What it costs") < page.index("0.50 of the ledger")


def test_a_warm_cache_costs_less_than_the_mean_of_warm_and_cold():
    assert 0 < move5.warm_per_thousand() < 1000 * move5.rungs()["whole"].usd


def test_the_lesson_loads_no_weights():
    encoder = load_encoder(support_kb.VECTORS)
    assert isinstance(encoder, CachedEncoder)
    assert not encoder.model_is_loaded


# --- exercises ---


def judged(key, answer):
    return lesson.check(key, answer)


def right_flip(cheap_usd, cheap_right, dear_usd, dear_right):
    return None if dear_right <= cheap_right else (dear_usd - cheap_usd) / (dear_right - cheap_right)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda a, b, c, d: (c - a) * (d - b), "With a wrong answer at that cost"),
        (lambda a, b, c, d: (c - a) / d, "With a wrong answer at that cost"),
        (lambda a, b, c, d: (a - c) / (d - b) if d > b else None, "costs nothing or more"),
        (lambda a, b, c, d: float("inf") if d > b else None, "a number of USD"),
        (lambda a, b, c, d: None if d > b else 0.2, "right more often"),
        (lambda a, b, c, d: (c - a) / (d - b) if d != b else None, "None is wanted"),
        (lambda a, b, c, d: 0 if d <= b else (c - a) / (d - b), "None is wanted"),
        (lambda a, b, c, d: None, "a number of USD"),
        (lambda a, b, c, d: str(right_flip(a, b, c, d)), "a number of USD"),
    ],
)
def test_a_wrong_flip_is_told_what_both_designs_cost_there(function, says):
    feedback = judged("flip", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_the_right_flip_passes_a_blank_is_not_attempted_and_a_division_by_zero_is_named():
    assert judged("flip", right_flip).outcome == "right"
    assert judged("flip", lambda a, b, c, d: ____).outcome == "not attempted"
    broken = judged("flip", lambda a, b, c, d: (c - a) / (d - b))
    assert broken.outcome == "error"
    assert "ZeroDivisionError" in repr(broken)


OUR_WORDS = list(next(rule.words for rule in RULES if rule.tool == "read_section"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("contract", "a list of words"),
        ([], "a list of words"),
        (["contract", 7], "every entry"),
        ([" "], "every entry"),
        (["("], "no regular expression"),
        (["contract"], "misses 5 of 7"),
        ([*OUR_WORDS, "invoice"], "your 'invoice' takes it away"),
        ([*OUR_WORDS, "team"], "takes it away"),
        ([".*"], "takes it away"),
        (["Does the contract renew by itself"], "has 6 words"),
    ],
)
def test_words_that_miss_or_steal_are_told_which_question(words, says):
    feedback = judged("rule", words)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_words_that_take_their_own_pass_and_a_blank_is_not_attempted():
    assert judged("rule", [*OUR_WORDS, "contract"]).outcome == "right"
    assert judged("rule", tuple(OUR_WORDS)).outcome == "right"
    assert judged("rule", ____).outcome == "not attempted"
    assert judged("rule", ["contract", ____]).outcome == "not attempted"


def test_a_word_can_pass_the_half_that_is_seen_and_steal_on_the_other():
    greedy = [*OUR_WORDS, "we"]
    assert judged("rule", greedy).outcome == "right"
    caught, taken = move5.on_unseen(greedy)
    ours = move5.on_unseen(OUR_WORDS)
    assert ours == (5, [])
    assert caught > ours[0]
    assert "How many invoices did we send in June?" in taken


@pytest.mark.parametrize("words", [____, None, "contract", [], [7], ["("]])
def test_words_that_are_none_are_left_out_of_the_comparison(words):
    shown = to_text(move5.show_on_unseen(words).html)
    assert "ours 5 nothing" in shown
    assert "yours" not in shown


def worth(rungs, needed):
    return [r.key for r in sorted((r for r in rungs if r.share.value >= needed), key=lambda r: r.usd)]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda rungs, needed: [r.key for r in rungs if r.share.value >= needed], "in another order"),
        (lambda rungs, needed: worth(rungs, needed)[::-1], "in another order"),
        (lambda rungs, needed: worth(rungs, 0), "that share, or more"),
        (lambda rungs, needed: [r.key for r in rungs if r.share.value > needed], "that share, or more"),
        (lambda rungs, needed: [r for r in rungs if r.share.value >= needed], "a list of keys"),
        (lambda rungs, needed: ",".join(worth(rungs, needed)), "a list of keys"),
    ],
)
def test_a_wrong_list_of_attempts_is_told_what_it_did(function, says):
    feedback = judged("worth", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_the_right_list_passes_and_a_blank_is_not_attempted():
    assert judged("worth", worth).outcome == "right"
    assert judged("worth", lambda rungs, needed: [r for r in rungs if ____]).outcome == "not attempted"
    assert judged("worth", lambda rungs, needed: [____]).outcome == "not attempted"
    assert all(worth(rungs, needed) == wanted for rungs, needed, wanted in LADDERS)


@pytest.mark.parametrize("key", ["flip", "rule", "worth"])
def test_hint_and_solution_can_be_asked_for(key):
    assert "Hint" in repr(lesson.hint(key))
    assert "One solution" in repr(lesson.solution(key))
