"""The questions of Move 3, in the order of the notebook."""

from course_lib.learn.predictions import Option, Question

AGAIN_ZERO = Question(
    key="again_zero",
    text="From Move 2: two counts over the tickets come back as zero. One filters by status = 'Open'. The other counts "
    "Berlin's open P1 tickets since 18 September. The table knows the team Berlin, the priority P1 and the status "
    "open, and it holds later dates. Which zero does the check of filter values doubt?",
    options=(
        Option("the one with 'Open'"),
        Option(
            "both of them",
            "a zero is a poor answer to a question that takes rows for granted; but a check that doubts each of them "
            "is soon ignored, and every value of the second one exists.",
            "both",
        ),
        Option(
            "neither of them",
            "both statements run without an error, and what is wrong with the first is only a capital; to the engine "
            "it is a value that no row has.",
            "neither",
        ),
    ),
    right=lambda names: ["neither" if not names else "both" if len(names) == 2 else "the one with 'Open'"],
    result="doubted",
    lesson_learned="Code compared what a model wrote with what there is. This notebook does the same with the names of "
    "sections.",
)

AGAIN_PAYS = Question(
    key="again_pays",
    text="From Move 0: a contract of 30,000 tokens is kept in a cache for five minutes, and reading it costs 10 % of "
    "the input price. Against six chunks of 500 tokens it does not pay at any rate of questions. Which of these "
    "changes that?",
    options=(
        Option(
            "a cache entry that lives for an hour",
            "fewer questions find it cold then; but one that finds it warm costs as much as six chunks all the same.",
            "an hour",
        ),
        Option(
            "a lower price for reading the cache",
            "",
            "cheaper reads",
        ),
        Option(
            "ten times as many questions",
            "that does keep the entry warm; an average of warm questions is still no cheaper than a warm question.",
            "more questions",
        ),
    ),
    right=lambda rates: [name for name, rate in rates.items() if rate is not None],
    result="pays_from",
    lesson_learned="What a warm question costs is the floor. Where it is no lower than the other way, neither "
    "traffic nor lifetime can help.",
)

DROPPED = Question(
    key="dropped",
    text="The careless model is a function of what it sees: the question, the contents, the evidence, the error if "
    "there is one. Now the loop refuses the id as before and keeps the error to itself. The budget is six calls. How "
    "many does it make?",
    options=(
        Option(
            "3, the last one an answer from 7.3",
            "somebody who is turned away tends to make do with what there is; this model still sees a reference that "
            "it has not followed.",
            "3",
        ),
        Option(
            "4, as before",
            "the loop has not become any less strict; but the third call shows the model what the second one did, to "
            "the letter, and it says the same.",
            "4",
        ),
        Option("6, and no answer", short="6"),
    ),
    right=lambda calls: [str(calls)],
    result="calls_made",
    lesson_learned="The same input tends to bring the same output, with real models too. An error that nobody hears is "
    "paid for again and again.",
)

FIRST = Question(
    key="first",
    text="“Can the provider suspend the service if we pay 50 days late?” The stub counts the words that a title shares "
    "with the question, as they are written, capitals aside. Of equal titles it takes the first. What does it open?",
    options=(
        Option("2 Services", "service is almost its title; with an s behind it, it is another word to a count.", "2"),
        Option("3 Service levels", short="3"),
        Option(
            "7.3 Late payment",
            "late is there, and paying is what it is about; but pay and payment are two words, so one is shared, and "
            "an earlier title shares one as well.",
            "7.3",
        ),
        Option(
            "8 Suspension",
            "it is where the answer stands, and a reader goes there at once; suspend and suspension share a meaning "
            "and no word.",
            "8",
        ),
    ),
    right=lambda id: [id],
    result="opened_first",
    lesson_learned="The first choice is made on titles alone, and a wrong one brings no error: 3 is a section like any "
    "other. This is where a model that understands titles earns its price.",
)

CHEAPEST = Question(
    key="cheapest",
    text="A navigator that reads two sections calls the model three times, and each call holds instructions and "
    "question (300 tokens), the contents (8,000) and what was read (700 a section). The whole document is one call of "
    "150,300. Input is 3 USD per million tokens, a tenth of that from a cache. Which is cheapest?",
    options=(
        Option(
            "the whole document, cached",
            "one call in the place of three, at a tenth of the price; a tenth of the document is still more than a "
            "tenth of the contents three times, and the little around them.",
            "whole document, cached",
        ),
        Option(
            "two reads, nothing cached",
            "a small prompt three times looks like little; each of them pays for the contents in full.",
            "navigate, 2 reads",
        ),
        Option("two reads, the contents cached", short="navigate, 2 reads, cached"),
        Option(
            "the whole document, not cached",
            "it is a single call with no output but the answer; it is also more input than all the others need.",
            "whole document",
        ),
    ),
    right=lambda design: [design],
    result="cheapest_design",
    lesson_learned="Of the 27,000 tokens that two reads send, 24,000 are the contents, three times over. What goes out "
    "with every call has to be small or cached, and best of all both.",
)

CLAIMS = Question(
    key="claims",
    text="Evidence: 7.3 and B, read for the question on interest. The check looks at two things: is each citation a "
    "section that was read, and does each number stand in a cited section or in the question, or come out of a formula "
    "that is shown. Which claims does it let through? Tick each of them.",
    options=(
        Option(
            "Interest is 12% a year. [7.3]",
            "The number is right, and 7.3 is where interest is due; it does not hold the number, which B does.",
            "12 from 7.3",
        ),
        Option(
            "Interest is 12% a year. [B]",
            "B never says interest, and one may miss the word; the check asks for the number, and that is there.",
            "12 from B",
        ),
        Option(
            "You owe EUR 65.75. [7.3][B]",
            "It is what the arithmetic comes to, and both sections are relevant; but nobody can see the arithmetic.",
            "65.75",
        ),
        Option(
            "Overdue amounts accrue no interest in the first month. [7.3]",
            "7.3 says the opposite, and a reader would stop here; the check compares numbers, and this sentence holds "
            "none.",
            "false",
        ),
    ),
    right=list,
    result="let_through",
    lesson_learned="A citation proves that a section was read, not what it says. Whether a sentence follows from its "
    "section a person sees who reads the two side by side, which the citation makes quick.",
    pick=None,
)

LYING = Question(
    key="lying",
    text="“What is the most that the provider must pay us in damages in one year?” The section on that limit is now "
    "called “Miscellaneous”. It begins: “The most that the Provider must pay in damages for all claims of one year is "
    "limited.” Three navigators choose by BM25: by titles; by titles and first sentences; by titles and a summary of "
    "that section, such as a model would write. Which of them still read it? Tick each of them.",
    options=(
        Option(
            "titles",
            "It follows references as well, and one might have led there; none did from the sections that its titles "
            "led to.",
            "titles",
        ),
        Option(
            "titles and first sentences",
            "One sentence looks like too little to set a title right; a clause likes to begin with what it is about, "
            "and this one does.",
            "first lines",
        ),
        Option(
            "titles and a summary",
            "The title still lies, and one may expect it to win; the summary has the words of the question.",
            "summaries",
        ),
    ),
    right=list,
    result="read_it",
    lesson_learned="Try the first sentence before you pay for summaries. It will not do where clauses begin with "
    "“Notwithstanding the foregoing”.",
    pick=None,
)

PAYS = Question(
    key="pays",
    text="Twenty questions need a section and the schedule that it points to, in the agreement of 400 sections, 16,500 "
    "tokens long. A system passes that brings at least 90 % of what is needed. Which one passes at the lowest price?",
    options=(
        Option(
            "six chunks with their heading paths",
            "a path of headings is the cheap repair, and it is cheap; but no heading says what a schedule is needed "
            "for.",
            "chunk RAG, heading paths",
        ),
        Option("BM25, and code follows the references", short="BM25, references followed"),
        Option(
            "a navigator over titles and first sentences",
            "it is made for this, and it passes; it also sends the contents in every call, and there are several.",
            "navigator, first lines",
        ),
        Option(
            "the whole document",
            "nothing is missing, and at this length it undercuts the navigator; a few chunks with what they refer to "
            "are a small part of it.",
            "whole document",
        ),
    ),
    right=lambda system: [system],
    result="cheapest_that_passes",
    lesson_learned="Where references are written so that code can read them, code can follow them, and one call is "
    "enough. A navigator is for the choice that takes understanding.",
)
