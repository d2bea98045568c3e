"""The questions of the notebook on one's own data, in its order."""

from course_lib.evaluation.questions import SHAPES
from course_lib.learn.predictions import Option, Question

AGAIN_ZERO = Question(
    key="again_zero",
    text="From Move 2: five P1 tickets of the Berlin team are open, and the table spells the status “open”. A model "
    "writes SQL that counts with status = 'Open'. What comes back?",
    options=(
        Option(
            "an error",
            "a value that does not exist looks like a mistake that somebody must notice; to the engine it is a filter "
            "like any other.",
            "error",
        ),
        Option("0"),
        Option("5", "a person reads both spellings as one; a comparison of texts in SQL does not."),
    ),
    right=lambda count: [str(count)],
    result="counted",
    lesson_learned="It ran, and it was wrong, and nothing said so. What you measure in this notebook can fail in the "
    "same way: look for what runs and is wrong.",
)

AGAIN_FUSED = Question(
    key="again_fused",
    text="From Move 1: two searches are fused by ranks, each adding 1 / (60 + rank). Article A is first in one search "
    "and tenth in the other, article B is third in both. Which comes first?",
    options=(
        Option("A", "one search is sure of it; but its first place is worth little more than a third, and ten is far."),
        Option("B"),
        Option(
            "neither, they tie",
            "a first place seems to make up for a tenth; but 1/61 gains 0.0005 on 1/63, and 1/70 loses 0.0016.",
            "tie",
        ),
    ),
    right=lambda sums: ["A" if sums["A"] > sums["B"] else "B" if sums["B"] > sums["A"] else "tie"],
    result="sums",
    lesson_learned="Fusion rewards what both agree on. Whether that helps depends on the questions, which is why you "
    "will count by shape of question.",
)

UNREAD = Question(
    key="unread",
    text="The folder holds a policy in Markdown, a handbook page in HTML, a price list in Word whose prices stand in "
    "tables, a guide in PDF, an agreement and notes of a meeting as plain text, a page that is written anew every "
    "morning, a sheet that went through the scanner, and an Excel sheet. Which of them does the course's reader, which "
    "looks for text and headings, not read? Tick all.",
    options=(
        Option(
            "travel_policy.md", "It is no office format; but its headings are marked with #, and its tables are text."
        ),
        Option("leave_handbook.html", "Menus and scripts of a page can be in the way; text and headings are read."),
        Option("price_list.docx", "A table is where many readers fail; here each row becomes a line."),
        Option("meter_guide.pdf", "PDF has a bad name; but this one holds its text, and bookmarks besides."),
        Option("supply_agreement.txt", "Nothing marks a heading; but the clauses are numbered, and that is enough."),
        Option("meeting_notes.txt", "It has no headings at all; but its text is read, and comes without an outline."),
        Option("today.md", "It changes every day; but it is read as it stands this minute."),
        Option("parking_scan.pdf", "It ends in .pdf like the guide, and it is a picture of words: there is no text."),
        Option("kilometres_2025.xlsx", "A table of numbers is data, and the folder's reader takes documents."),
    ),
    right=list,
    result="not_read",
    lesson_learned="Two of nine, each with its reason. In your folder, read this list first: the answer to a question "
    "may stand in a file that no system has ever seen.",
    pick=None,
)

LEAST = Question(
    key="least",
    text="“navigate” goes to the one document whose text suits the question best, reads its table of contents, opens "
    "the sections whose titles suit the question, and follows the references that it finds there. On which shape does "
    "it find least?",
    options=(
        Option("single fact", "the fact may stand under a title that does not say so; most titles here do say so."),
        Option("exact identifier"),
        Option(
            "aggregate",
            "a count needs many places and it opens few; but it opens whole chapters, and these hold the tables.",
        ),
        Option("structural hop", "the answer stands one reference away; following references is what it is made for."),
        Option(
            "fast-changing source",
            "what changes daily is hard for an index; this one reads the page itself, with good titles.",
        ),
    ),
    right=lambda shape: [shape] if shape in SHAPES else [],
    result="finds_least",
    lesson_learned="No title says E-17 or HP-240. The same walk is the best of all where the answer is one reference "
    "away. That is why there is a row for each shape.",
)

COMPLETE = Question(
    key="complete",
    text="Six questions ask for a count, a sum or a comparison over one or more sections. For four of them "
    "bm25_headings brings at least one of the sections that are needed, and that is what “found” counts. "
    "For how many does it bring all that are needed?",
    options=(
        Option(
            "four",
            "three places are enough for most of these questions; but the places went to other sections that match.",
            "4",
        ),
        Option(
            "three", "one that falls short sounds about right; look at which sections took the places of the rest.", "3"
        ),
        Option("one", short="1"),
        Option(
            "none",
            "counting is what search cannot do; but one of the counts needs a single section, and finds it.",
            "0",
        ),
    ),
    right=lambda count: [min(("0", "1", "3", "4"), key=lambda name: abs(int(name) - count))],
    result="all_of_it",
    lesson_learned="Two of three tables are found, and a sum over two is wrong. For aggregates ask for recall, or "
    "better: put the prices where they can be queried.",
)

STALE = Question(
    key="stale",
    text="For each of the six fast-changing questions, what runs today cites the section in which the answer stands. "
    "It also wrote an answer to each. How many of the six are right?",
    options=(
        Option("five or six", "it cites the right place, and a model copies a line well; but copied from when?", "5"),
        Option(
            "three or four", "some things may have changed since; a page that is new each morning changes more.", "3"
        ),
        Option("two or fewer", short="1"),
    ),
    right=lambda count: [min(("1", "3", "5"), key=lambda name: abs(int(name) - count))],
    result="right_today",
    lesson_learned="The place is right, and the answer is of an earlier day. No retrieval metric sees that: only an "
    "answer, compared with what is true today.",
)

CHANCE = Question(
    key="chance",
    text="Over all 32 questions “headings” finds what is needed for 23, and what runs today for 20. Both were asked "
    "the same questions. What may you tell the team?",
    options=(
        Option(
            "headings is better",
            "three more on the very same questions looks like a fair race; but they differ on five questions only, and "
            "those fell 4 to 1.",
            "better",
        ),
        Option("chance alone could do that", short="chance"),
        Option(
            "they are equally good",
            "no difference was shown, which is not the same as: none is there. 32 questions are too few to say that.",
            "equal",
        ),
    ),
    right=lambda p: ["better" if p < 0.05 else "chance"],
    result="p_value",
    lesson_learned="Only the questions on which two systems differ say which is better, and a split of 4 to 1, "
    "or a more uneven one, is what tossed coins give in three cases of eight.",
)
