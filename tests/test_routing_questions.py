"""The labelled questions for choosing a tool: enough of them, spread over tools and halves, none twice."""

from collections import Counter

from course_lib.corpora.routing_questions import routing_questions

TOOLS = {"search_kb", "count_tickets", "run_sql", "read_section", "grep", None}


def test_there_are_more_than_sixty_questions_and_no_two_are_the_same():
    texts = [question.text.casefold() for question in routing_questions()]
    assert len(texts) == len(set(texts)) >= 60


def test_every_tool_and_no_tool_has_as_many_questions_in_either_half():
    for half in ("tuning", "held out"):
        assert Counter(q.tool for q in routing_questions(half)) == dict.fromkeys(TOOLS, 7)


def test_a_half_is_a_part_of_the_whole():
    assert {*routing_questions("tuning"), *routing_questions("held out")} == set(routing_questions())


def test_only_tools_that_exist_also_lead_to_an_answer():
    assert {tool for question in routing_questions() for tool in question.also} <= TOOLS
