"""The questions of Move 5, in the order of the notebook."""

from course_lib.learn.predictions import Option, Question
from course_lib.lessons.move5_choosing.lending import ASTRAY as QUESTIONS
from course_lib.lessons.move5_choosing.reviewing import PATTERNS

AGAIN_COUNT = Question(
    key="again_count",
    text="From Move 2: sixty tickets, each a row with a vector, and five of them are Berlin's open P1 tickets. The ten "
    "rows nearest to the question hold three of the five, so somebody sets k to 20. What is wrong with that?",
    options=(
        Option(
            "twenty rows cost too much to send",
            "prompts are paid by the token, and rows add up; but these are short, and the count would be worth it.",
            "cost",
        ),
        Option(
            "one of the five, or more, is still missing",
            "ten rows had gaps, so one expects them of twenty as well; here there happens to be none.",
            "gaps",
        ),
        Option("nothing in the result says that it is complete", short="no sign"),
    ),
    right=lambda found: ["gaps" if found["all five"] is False else "cost" if found["tokens"] > 5_000 else "no sign"],
    result="twenty_rows",
    lesson_learned="The twenty hold all five, in a few hundred tokens: enough for this question on this day. Only a "
    "query over all rows knows that it has seen them all. Which tool a question needs is what this notebook is about.",
)

AGAIN_SYNONYM = Question(
    key="again_synonym",
    text="From Move 4: “What is our rate limit for outgoing mail?” The agent greps the repository for "
    "rate.?limit, and no line matches. What has it shown?",
    options=(
        Option(
            "that the code sets no such limit",
            "every line was searched, and a limit would stand in one; but perhaps under a name of its own.",
            "no limit",
        ),
        Option(
            "that the file with the limit was skipped",
            "files are skipped in real repositories, and a good tool says so; here all of them were searched.",
            "skipped",
        ),
        Option("that nobody wrote it in these words", short="other words"),
    ),
    right=lambda found: ["no limit" if not any(found.values()) else "other words"],
    result="found_by_pattern",
    lesson_learned=f"It is called throttle, and {PATTERNS[-1]} finds it. Grep finds the words that are written; each "
    "guess at another one is a call of the model.",
)

CLAIMS = Question(
    key="claims",
    text="Five cells follow. Which of these statements will they bear out? The first compares with the slower of two "
    "designs with vectors: a hosted encoder, and one of your own, here MiniLM on this machine. Tick all.",
    options=(
        Option(
            "BM25 saves a tenth of the time to an answer, or more",
            "No encoder and no network does sound quicker, and it is; but every design then waits for a model to "
            "write, and that takes seconds.",
            "a tenth faster",
        ),
        Option(
            "with BM25 less text goes out than with an encoder of your own",
            "Vectors come from a model, and a model sounds like a provider; this one runs here, and what goes out is "
            "what the answering model reads.",
            "less leaves",
        ),
        Option(
            "BM25 has fewer parts than vectors with an encoder of your own",
            "There are no weights to keep; but an analyzer comes in their place, and a rule for no evidence with "
            "it. Without that rule it would be a tie.",
            "fewer parts",
        ),
        Option(
            "one corrected article costs a vector index one encoding",
            "An index of vectors looks like something that is trained as a whole; it is a list, and one entry of it is "
            "replaced. A new model is what touches all of them.",
            "one encoding",
        ),
        Option(
            "one metric, on the same labels, scores BM25 and vectors",
            "A vector cannot be read, so that it seems to escape a test; but both return ids, and a hit rate needs "
            "nothing else.",
            "one metric",
        ),
    ),
    right=list,
    result="lines",
    lesson_learned="What is true in the memo is true of single designs: a hosted encoder sees every document, and a "
    "whole document in the prompt has the fewest parts. That decides nothing about vectors. A design is chosen by the "
    "questions it has to answer.",
    pick=None,
)

ASTRAY = Question(
    key="astray",
    text="Six questions that the rules have not been tuned on. Go through the rules from the top. Which questions end "
    "elsewhere than a person would send them? Tick all.",
    options=(
        Option(
            QUESTIONS["mails"],
            "“How many” sounds like a count, and no rule for counting looks for it; a file name meets the second rule.",
            "mails",
        ),
        Option(
            QUESTIONS["competitors"],
            "It is about a terminal, and the word alone decides; what competitors charge is in none of the five.",
            "competitors",
        ),
        Option(
            QUESTIONS["fees"],
            "Anybody who knows the contract knows that it defines its terms; but neither word is in the rule.",
            "fees",
        ),
        Option(
            QUESTIONS["drafts"],
            "Drafts sound like documents; but “total” meets the rule for the database, and that is right.",
            "drafts",
        ),
        Option(
            QUESTIONS["tap to pay"],
            "A device misbehaves, and that is what the articles are for; but its words are a customer's, not ours.",
            "tap to pay",
        ),
        Option(
            QUESTIONS["refund"],
            "It has an invoice in it, so the database looks right; but it asks for an act, and no tool may act.",
            "refund",
        ),
    ),
    right=list,
    result="astray_now",
    lesson_learned="A word tells who is asked, not what is wanted. Two of these get no tool, which somebody will "
    "notice; two get a tool that has no business with them.",
    pick=None,
)

HELD_OUT = Question(
    key="held_out",
    text="The rules were written with 42 labelled questions on the screen, and all 42 go to the right tool. Another 42 "
    "were written by the same hand before that, and put away. The six above are among them, picked by us. Of "
    "these 42, how many go to the right tool?",
    options=(
        Option(
            "40 or more",
            "one hand wrote both halves, so that the rules should fit; but they fit the words of the half they saw.",
            "40",
        ),
        Option("about 33", short="33"),
        Option(
            "about 21",
            "after the six above one expects the worst; but codes, file names and months come back in most questions.",
            "21",
        ),
    ),
    right=lambda count: [min(("40", "33", "21"), key=lambda name: abs(int(name) - count))],
    result="right_of_42",
    lesson_learned="On the half that rules were tuned on, they could hardly fail. The other half flatters them, too: "
    "people you have never met will ask otherwise than one author does.",
)

VAGUE = Question(
    key="vague",
    text="The descriptions are replaced by the vague ones; names, arguments and code stay as they are. The stand-in "
    "compares the words of a question with the descriptions. Which tool does it call for “How many P1 tickets are open "
    "for the Berlin team?”",
    options=(
        Option(
            "count_tickets, by its name",
            "the name does say it, and a real model reads names as well; this script reads descriptions alone.",
            "count_tickets",
        ),
        Option(
            "run_sql, which “gets data”",
            "a count is data; but the question has no word in common with “Gets data.”",
            "run_sql",
        ),
        Option("none of the five", short="none"),
    ),
    right=lambda tools: [tools[0] if tools else "none"],
    result="tools_called",
    lesson_learned="What a description does not say, whoever chooses by it cannot know. A real model reads the "
    "names as well and may guess rightly; how often is a thing to measure, with the same labels.",
)

BOOST = Question(
    key="boost",
    text="A repair has to bring the article first for all twelve official questions, and the thread among three for "
    "all twelve forum questions. Which of these factors on official scores do so in all three imports? Tick all.",
    options=(
        Option("1.2", "The gentlest push looks the safest; where a post repeats the code, it is too little."),
        Option(
            "1.5",
            "A number that was found on one import may be tuned to it; here it holds, and all three are written in one "
            "hand.",
        ),
        Option("3", "The stronger, the safer, for articles; but threads that nothing else replaces fall behind them."),
    ),
    right=list,
    result="hold",
    lesson_learned="It held in three draws from the same phrases, which says little about a forum with other habits. A "
    "number has to be found again after every import; a second index needs no factor.",
    pick=None,
)
