"""The questions of Move 4, in the order of the notebook."""

from course_lib.learn.predictions import Option, Question

AGAIN_ZERO = Question(
    key="again_zero",
    text="From Move 2: a model's query counts tickets WHERE team = 'Berlin' AND status = 'Open'. The status is spelled "
    "“open”, so the count is 0. The guard has a read-only connection, an allow-list, a time limit and a row cap. Which "
    "layer stops the query?",
    options=(
        Option(
            "the allow-list",
            "it knows which tables and functions may be used, and it looks at no value.",
            "allow-list",
        ),
        Option(
            "the row cap", "one row came back, with a zero in it; a cap counts rows and does not read them.", "row cap"
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
            "that is what a search without rules does; here the best article has to hold half of the words.",
            "wrong",
        ),
        Option("no evidence"),
    ),
    right=lambda ids: ["no evidence" if not ids else "right" if "kb-106" in ids else "wrong"],
    result="found_ids",
    lesson_learned="A search by words finds the words that somebody typed. What to do when nobody typed the right one "
    "is a question for this notebook again.",
)

TRAP = Question(
    key="trap",
    text='The agent\'s first search is grep("retr"), so that retry, retries and retrying all match, in capitals or '
    "not. It stops there and takes the number from the first line that comes back. Files are searched in the order "
    "above. What does it tell the merchant?",
    options=(
        Option(
            "5", "it is the number that was asked for; but its line is spelled otherwise than the question.", "five"
        ),
        Option("3", short="three"),
        Option("2", "that file is about retries through and through, and it is searched after the settings.", "two"),
        Option(
            "no number, since nothing matches",
            "the webhook's lines do not match, and those of others do.",
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
    text="An agent makes eight calls, and each result has 400 tokens. A model remembers nothing, so every call sends "
    "along all results before it, and so does the last one, which writes the answer. How many input tokens do the "
    "results make in all?",
    options=(
        Option("3,200", "that is what was read, once each.", "3200"),
        Option("14,400", short="14400"),
        Option("25,600", "eight results eight times; but the last result is sent once, not eight times.", "25600"),
    ),
    right=lambda tokens: [str(tokens)],
    result="tokens_sent",
    lesson_learned="What comes back early is paid for most often. A cap on the first search saves more than a cap on "
    "the last one.",
)

BACKTRACK = Question(
    key="backtrack",
    text="Python's re searches the pattern (a+)+$ in twenty letters a and an exclamation mark, which does not match. "
    "Now there are twenty-four. How much longer does it take?",
    options=(
        Option("about 1.2 times as long", "that is how reading grows: a fifth more letters, a fifth more work.", "1.2"),
        Option("about 1.4 times as long", "two nested loops sound like the square of the length.", "1.4"),
        Option("about 16 times as long", short="16"),
    ),
    right=lambda growth: ["1.2" if growth**4 < 1.3 else "1.4" if growth**4 < 4 else "16"],
    result="growth",
    lesson_learned="Each letter can close a group or not, and all of it is tried: one more letter doubles the ways. "
    "Forty letters are a line that anybody can write into a file.",
)

ORDERS = Question(
    key="orders",
    text="A stand-in for the worst model there is obeys every order it reads. One file gives it five, one after the "
    "other. Which of them are carried out? Tick all.",
    options=(
        Option('read(".env")', "A file of that name holds keys: refused by name, whoever asks.", ".env"),
        Option(
            'delete("payments/webhooks.py")', "There is no such tool, so there is nothing to be talked into.", "delete"
        ),
        Option('read("../../etc/passwd")', "A path that climbs out of the repository is refused.", "climb"),
        Option(
            'read("docs/runbook.md")',
            "An allowed file by an allowed tool: it costs tokens and does no harm.",
            "runbook",
        ),
        Option(
            "answer: “Webhooks are retried 9 times.”",
            "No list of tools stands between a model and what it says.",
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
            "Whoever has the name needs no vectors: the definition is one search away.",
            "named identifier",
        ),
        Option(
            "named behaviour: the question uses words of the code",
            "The words are there, and two of them on one line find it, where the repository is small.",
            "named behaviour",
        ),
        Option(
            "paraphrase: the question avoids the words of the code",
            "Nobody typed the right word, and a table of synonyms knows what its author knew.",
            "paraphrase",
        ),
        Option(
            "number behind a constant: the value is set somewhere else",
            "The function has to be found before its constant can be; half of these are described, not named.",
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
        Option("grep", "It has no memory: it reads the file as it is now.", "grep"),
        Option(
            "BM25 over functions",
            "It needs no vectors, and it is an index all the same: it returns the text of last night.",
            "BM25",
        ),
        Option(
            "MiniLM over functions",
            "It finds the right function, and shows what was in it when it was encoded.",
            "MiniLM",
        ),
        Option(
            "MiniLM finds the place, and read fetches the lines from the file",
            "The lines are fresh, but their numbers are those of last night, and everything has moved down.",
            "MiniLM + read",
        ),
    ),
    right=list,
    result="fresh",
    lesson_learned="An index is a copy with a date. Keep in it what finds the place again, such as the function's "
    "name, and fetch the text from the file.",
    pick=None,
)
