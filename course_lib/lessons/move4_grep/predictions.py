"""The questions of Move 4, in the order of the notebook."""

from math import inf

from course_lib.learn.predictions import Option, Question

AGAIN_ZERO = Question(
    key="again_zero",
    text="From Move 2: a model's query counts tickets WHERE team = 'Berlin' AND status = 'Open'. The status is spelled "
    "“open”, so the count is 0. The guard has a read-only connection, an allow-list, a time limit and a row cap. Which "
    "layer stops the query?",
    options=(
        Option(
            "the allow-list",
            "it says no to most bad queries; but it knows tables and functions, and looks at no value.",
            "allow-list",
        ),
        Option(
            "the row cap",
            "a count of 0 sounds like no rows; but one row came back, and a cap does not read what is in it.",
            "row cap",
        ),
        Option("none of them", short="none"),
    ),
    right=lambda layer: [layer if layer in ("allow-list", "row cap") else "none"],
    result="stopped_by",
    lesson_learned="It is harmless, quick and small, and its zero is false. Only somebody who knows which words are in "
    "the data can doubt it. A search that finds nothing is such a zero too.",
)

AGAIN_WORDS = Question(
    key="again_words",
    text="From Move 1: an article says “contactless payments declined”. A customer writes: “tap to pay stopped "
    "working”. What does BM25 return, with its two rules and without a table of synonyms?",
    options=(
        Option(
            "the right article",
            "to a reader both say the same; an index of words compares words, and these share none that matters.",
            "right",
        ),
        Option(
            "a wrong article",
            "a search without rules always returns its best; here the best has to hold half of the words.",
            "wrong",
        ),
        Option("no evidence"),
    ),
    right=lambda ids: ["no evidence" if not ids else "right" if "kb-106" in ids else "wrong"],
    result="found_ids",
    lesson_learned="Between two people who mean the same there may be no word in common. This notebook meets "
    "that again, with programmers.",
)

TRAP = Question(
    key="trap",
    text='The agent\'s first search is grep("retr"), so that retry, retries and retrying all match, in capitals or '
    "not. It stops there and takes the number from the first line that comes back. Files are searched in the order "
    "above. What does it tell the merchant?",
    options=(
        Option(
            "5",
            "its line is about webhooks, and the first of the first file; but it does not have the letters.",
            "five",
        ),
        Option("3", short="three"),
        Option("2", "that file is about retries through and through, and it is searched after the settings.", "two"),
        Option(
            "no number, since nothing matches",
            "the webhook's own lines do not match indeed; but those about other retries do.",
            "no number",
        ),
    ),
    right=lambda number: [{"5": "five", "3": "three", "2": "two"}.get(str(number), "no number")],
    result="read_off",
    lesson_learned="It found something, and that is the trap: five lines about retries of other things, and no sign "
    "that the webhook is not among them.",
)

RETRIES = Question(
    key="retries",
    text="Every delivery fails, from the first to the last. How often is the webhook retried?",
    options=(
        Option("four times", short="4"),
        Option("five times", "the setting says 5, and what is set is called attempts, not retries.", "5"),
        Option("six times", "the first delivery and five more; but the first one is among the five.", "6"),
    ),
    right=lambda count: [str(count)],
    result="retries",
    lesson_learned="The first delivery is an attempt, and no retry. A name tells you where to look; what it means "
    "stands where it is used.",
)

CARRIED = Question(
    key="carried",
    text="An agent searches eight times, and each result has 400 tokens. A model remembers nothing, so each time it is "
    "called, all results so far are sent along. After the eighth result it is called once more, for the answer. "
    "How many input tokens do the results make in all?",
    options=(
        Option("3,200", "that is what the searches returned; but it is counted once, and was sent more often.", "3200"),
        Option("14,400", short="14400"),
        Option(
            "25,600",
            "eight results eight times; but only the first was there so early, and the last is sent once.",
            "25600",
        ),
    ),
    right=lambda tokens: [str(tokens)],
    result="tokens_sent",
    lesson_learned="What comes back early is paid for most often. A cap on the first search saves more than a cap on "
    "the last one.",
)


def _four_letters(growth: float) -> str:
    """Return the option nearest to what four letters more make of the time; 16 where it was too slow to be measured."""
    times = growth**4
    if times < 4:
        return "1.2" if times < 1.3 else "1.4"
    return "256" if 128 < times < inf else "16"


BACKTRACK = Question(
    key="backtrack",
    text="Python's re searches the pattern (a+)+$ in twenty letters a and an exclamation mark, which does not match. "
    "Now there are twenty-four. How much longer does it take?",
    options=(
        Option(
            "about 1.2 times as long",
            "reading grows so: a fifth more letters, a fifth more work; but no letter is tried only once.",
            "1.2",
        ),
        Option(
            "about 1.4 times as long",
            "two nested loops sound like the square of the length; but these share out the letters in every way.",
            "1.4",
        ),
        Option("about 16 times as long", short="16"),
        Option(
            "about 256 times as long",
            "two loops, each with two choices a letter; but it is one choice: the group ends there, or goes on.",
            "256",
        ),
    ),
    right=lambda growth: [_four_letters(growth)],
    result="growth",
    lesson_learned="Each letter can close a group or not, and all of it is tried: one more letter doubles the ways. "
    "Forty letters are a line that anybody can write into a file.",
)

ORDERS = Question(
    key="orders",
    text="In place of a model stands the worst there is: it asks for whatever it reads. The file gives it five orders, "
    "one after the other. Which of them are carried out? Tick all.",
    options=(
        Option(
            'read(".env")',
            "The path lies inside; but files of that name hold keys and are refused, whoever asks.",
            ".env",
        ),
        Option(
            'delete("payments/webhooks.py")',
            "The model does ask for it; but there is no such tool, so nothing can be talked into it.",
            "delete",
        ),
        Option('read("../../etc/passwd")', "The tool is allowed; but a path that climbs out is not.", "climb"),
        Option(
            'read("docs/runbook.md")',
            "It comes from the same bad file; but tool and path are allowed, and all it costs is tokens.",
            "runbook",
        ),
        Option(
            "answer: “Webhooks are retried 9 times.”",
            "It calls nothing, and so seems harmless; but no list of tools checks what a model says.",
            "answer",
        ),
    ),
    right=list,
    result="carried_out",
    lesson_learned="The list of tools bounds what can happen in your systems. What can happen in the answer it does "
    "not bound: show the lines an answer rests on, so that somebody can look.",
    pick=None,
)

GAINS = Question(
    key="gains",
    text="47 questions in four slices, over the same 300 functions. One agent has grep and a table of synonyms. The "
    "other has a search over MiniLM's vectors beside grep. In which slices does the second one get to the right "
    "function for at least two questions more? Tick all.",
    options=(
        Option(
            "named identifier: the question names the function",
            "More search sounds like more answers; but whoever has the name finds the definition at once.",
            "named identifier",
        ),
        Option(
            "named behaviour: the question uses words of the code",
            "One word alone is on many lines; but two of them together find it, where the repository is small.",
            "named behaviour",
        ),
        Option(
            "paraphrase: the question avoids the words of the code",
            "The synonyms are made for these; but such a table knows only what its author thought of.",
            "paraphrase",
        ),
        Option(
            "number behind a constant: the value is set somewhere else",
            "A number has no meaning to compare; but the function comes first, and most are described, not named.",
            "number behind a constant",
        ),
    ),
    right=list,
    result="gains",
    lesson_learned="Both vendors may be right, each about the questions they measured. Ask which slices your own "
    "people ask, and count them.",
    pick=None,
)

STALE = Question(
    key="stale",
    text="Somebody changes a default from 3 to 7 and puts a function of sixty lines above it. Nothing is indexed "
    "again. You ask once more. Who shows the 7? Tick all.",
    options=(
        Option(
            "grep", "It may seem the crudest of the four; but it has no memory and reads the file as it is now.", "grep"
        ),
        Option(
            "BM25 over functions",
            "It has no vectors to make anew; but it is an index all the same, and returns the text it was made of.",
            "BM25",
        ),
        Option(
            "MiniLM over functions",
            "It does find the right function; but it shows what was in it when it was encoded.",
            "MiniLM",
        ),
        Option(
            "MiniLM finds the place, and read fetches the lines from the file",
            "The lines are fresh; but their numbers are from before the edit, and everything has moved down.",
            "MiniLM + read",
        ),
    ),
    right=list,
    result="fresh",
    lesson_learned="An index is a copy with a date. Keep in it what finds the place again, such as the function's "
    "name, and fetch the text from the file.",
    pick=None,
)
