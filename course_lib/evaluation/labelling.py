"""Labelling questions: sort them by shape, say what is expected, mark the passages that hold it by searching.

The state is kept here, without any widget; every change is in the file before the call returns, and a labelling that
is opened again goes on where it was.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import RLock

from course_lib.evaluation.questions import (
    SHAPES,
    UNSORTED,
    Labelled,
    Question,
    QuestionsError,
    question_from,
    read_questions,
    same_text,
    to_lines,
)
from course_lib.evaluation.report import write_whole
from course_lib.retrieval import Hit, Retriever


class Labelling:
    """Questions on their way to labels, one of them current.

    Any thread may use it: a widget's callback need not run where the notebook's cells do. Every method that changes
    something saves; it raises QuestionsError where the file was changed from outside in the meantime, and OSError where
    it cannot be written: the change then stays in memory, and `save` tries again.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     work = Labelling(Path(folder) / "questions.jsonl", questions=["Which rate?", "What is E-4471?"])
    ...     work.sort("structural hop")
    ...     work.mark("B")
    ...     print(work.progress())
    2 questions: 1 labelled, 1 without a shape
    """

    def __init__(self, path: Path, search: Retriever | None = None, questions: Iterable[str] = ()) -> None:
        """Open the labelling at `path`, or begin it with `questions`; texts that are not in it yet are added.

        A CSV is read once and kept as JSONL beside it, where all later changes go. `search` finds passages to mark.
        """
        self.path = path if path.suffix.lower() == ".jsonl" else path.with_suffix(".jsonl")
        self.search, self._lock = search, RLock()
        source = self.path if self.path.is_file() else path
        read = read_questions(source) if source.is_file() and source.stat().st_size else Labelled(())
        self.notes = read.notes
        self._questions = list(read.questions)
        self._digest = self._on_disk()
        self._at = 0
        self.add(questions)
        if self._questions:
            self.go_to_open()

    # --- Where we are ---

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, labelled or not."""
        with self._lock:
            return tuple(self._questions)

    @property
    def at(self) -> int:
        """The number of the current question, from 0."""
        return self._at

    @property
    def current(self) -> Question:
        """The current question. Raises LookupError where there is none."""
        with self._lock:
            if not self._questions:
                raise LookupError("There is no question yet: add some.")
            return self._questions[self._at]

    def progress(self) -> str:
        """Say how far the work is."""
        with self._lock:
            labelled = sum(question.is_labelled for question in self._questions)
            unsorted = sum(question.shape == UNSORTED for question in self._questions)
            return f"{len(self._questions)} questions: {labelled} labelled, {unsorted} without a shape"

    def counts(self) -> dict[str, int]:
        """Return how many questions have each shape: the five known ones first, zeros included, then the others."""
        with self._lock:
            found = Counter(question.shape for question in self._questions)
        return {shape: found[shape] for shape in (*SHAPES, *(one for one in found if one not in SHAPES))}

    def go(self, number: int) -> Question:
        """Make a question the current one, by its number from 0. Raises IndexError for a number that has none."""
        with self._lock:
            if not 0 <= number < len(self._questions):
                raise IndexError(f"There is no question {number}; they are numbered 0 to {len(self._questions) - 1}.")
            self._at = number
            return self.current

    def step(self, by: int) -> Question:
        """Go forward or back, no further than the ends."""
        with self._lock:
            return self.go(min(max(self._at + by, 0), len(self._questions) - 1))

    def go_to_open(self) -> bool:
        """Go to the next question, from the current one round to it, that lacks a shape or a label. False if none."""
        with self._lock:
            n = len(self._questions)
            for number in ((self._at + step) % n for step in range(n)):
                question = self._questions[number]
                if question.shape == UNSORTED or not question.is_labelled:
                    self._at = number
                    return True
            return False

    # --- Labels ---

    def add(self, questions: Iterable[str]) -> int:
        """Add questions that are not there yet, and return how many those were. Blank ones are passed over.

        Raises ValueError where `questions` is one text instead of several.
        """
        if isinstance(questions, str):
            raise ValueError(f"questions is the text {questions!r}; a list of questions is expected: [{questions!r}]")
        with self._lock:
            known = {same_text(question.text) for question in self._questions}
            new = {same_text(text): text for text in questions if text.strip() and same_text(text) not in known}
            self._questions += [Question(text.strip()) for text in new.values()]
            if new:
                self.save()
            return len(new)

    def sort(self, shape: str) -> None:
        """Give the current question a shape: one of SHAPES, or one of your own."""
        self._change(shape=question_from({"question": "-", "shape": shape}).shape)

    def expect(self, answer: str, tolerance: str | float = "") -> None:
        """Say which answer is expected, and how far a number may be off ("0.01", "2 %"); a blank one takes it back."""
        fields = {"question": "-", "expected": answer, "tolerance": tolerance}
        label = question_from(fields)
        self._change(expected=label.expected, tolerance=label.tolerance, relative=label.relative)

    def mark(self, id: str) -> None:
        """Mark a passage as one that holds the answer. Raises ValueError for a blank id."""
        if not id.strip():
            raise ValueError("The id is blank: mark a passage by the id that the search shows.")
        with self._lock:
            if id not in self.current.gold:
                self._change(gold=(*self.current.gold, id))

    def unmark(self, id: str) -> None:
        """Take a mark back. Raises ValueError where there was none."""
        with self._lock:
            if id not in self.current.gold:
                raise ValueError(f"{id!r} is not marked; marked are {', '.join(self.current.gold) or 'none'}.")
            self._change(gold=tuple(one for one in self.current.gold if one != id))

    def find(self, words: str = "", k: int = 8) -> Sequence[Hit]:
        """Search passages for `words`, or for the current question. Raises LookupError where no search was given."""
        if self.search is None:
            raise LookupError("No search was given: pass one, such as bm25.Index(documents).search.")
        return self.search(words if words.strip() else self.current.text, k)

    def _change(self, **fields: object) -> None:
        with self._lock:
            self._questions[self._at] = replace(self.current, **fields)  # type: ignore[arg-type]
            self.save()

    # --- The file ---

    def save(self) -> None:
        """Write everything down. Nothing is written over what somebody else has changed meanwhile."""
        with self._lock:
            if self._on_disk() != self._digest:
                raise QuestionsError(
                    f"{self.path.name} was changed by somebody else since it was read, and was not written. Open the "
                    f"labelling again, in one notebook only."
                )
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, to_lines(self._questions))
            self._digest = self._on_disk()

    def _on_disk(self) -> str:
        return sha256(self.path.read_bytes()).hexdigest() if self.path.is_file() else ""
