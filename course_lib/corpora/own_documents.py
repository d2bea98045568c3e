"""A small company's documents, as a service desk has them: where they lie, the questions about them, today's answers.

The folder stands for a learner's own: five formats, a text without headings, and two files that cannot be read.
"""

from course_lib.corpora import DATA

FOLDER = DATA / "own_documents"
QUESTIONS = DATA / "own_questions.jsonl"  # labelled, in the five shapes
ANSWERS = DATA / "own_answers.csv"  # what a vector search of last month answered to them, written for the course
VECTORS = DATA / "vectors" / "own_documents.npz"

# The answer stands in the file that is a scan.
IN_THE_SCAN = "Where may visitors park?"
