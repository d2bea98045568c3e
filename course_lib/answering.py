"""From evidence to an answer whose citations and numbers are checked: by code, whoever wrote it.

The module goes the way of its notebook: which numbers a text holds, a formula that computes one, a claim with its
citations, the check, and the two writers: an extractive stand-in that quotes, and a model where there is a key.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation
from typing import Any, TypeAlias

from course_lib.bm25 import QUESTION_WORDS, words
from course_lib.llm import Cache, Model, ModelError, Request
from course_lib.retrieval import Usage
from course_lib.schemas import Schema

Evidence: TypeAlias = Mapping[str, str]  # id -> text

NOT_FOUND = "That is not in the evidence."
QUESTION, ASSUMPTION = "question", "assumption"  # where a number may come from besides a section

# --- Numbers in a text ------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?")
_CITATION = re.compile(r"\[([^\[\]\s]{1,80})\]")
_PLACE = re.compile(
    r"\b(?:[Ss]ections?|[Cc]lauses?|[Aa]rticles?|[Ss]chedules?|[Ee]xhibits?|[Aa]nnex)\s+"
    r"[A-Z]?\d[\d.]*(?:\s*(?:,|and|or|to)\s*\d[\d.]*)*"
)
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_NAMED = {name: Decimal(value) for value, name in enumerate(_WORDS.split())}
_NAMED |= {"twenty": Decimal(20), "thirty": Decimal(30), "forty": Decimal(40), "fifty": Decimal(50)}
_NAMED |= {"sixty": Decimal(60), "ninety": Decimal(90), "hundred": Decimal(100)}


def numbers(text: str) -> list[Decimal]:
    """Return the numbers that a text writes in digits, in order; citations and names of sections are none.

    >>> [str(number) for number in numbers("EUR 10,000 at 12% for 20 days, see Section 7.3 [7.3][B]: 65.75.")]
    ['10000', '12', '20', '65.75']
    """
    rest = _PLACE.sub(" ", _CITATION.sub(" ", text))
    return [Decimal(found.replace(",", "")) for found in _NUMBER.findall(rest)]


def holds(text: str, number: Decimal) -> bool:
    """Say whether a text holds a number, in digits or as a word: "three years" holds 3.

    >>> holds("within three years", Decimal(3)), holds("365-day year", Decimal(365)), holds("1,365", Decimal(365))
    (True, True, False)
    """
    return number in numbers(text) or any(_NAMED.get(word) == number for word in words(text))


# --- A formula --------------------------------------------------------------------------------------------------

LONGEST_FORMULA = 200  # characters
_MOST = Decimal(10) ** 30  # no result of a bill is larger
_OPERATIONS: dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def compute(expression: str, values: Mapping[str, Decimal]) -> Decimal:
    """Return what an expression of + - * / and brackets over named values and plain numbers comes to; nothing is run.

    Raises ValueError with a sentence for anything else: a call, a power, an unknown name, a division by zero.

    >>> compute("invoice * rate / 365", {"invoice": Decimal(10_000), "rate": Decimal("0.73")})
    Decimal('20.00')
    """
    if len(expression) > LONGEST_FORMULA:
        raise ValueError(f"the formula has {len(expression)} characters; {LONGEST_FORMULA} are allowed")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        result = _value(tree.body, values)
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"the formula {expression!r} is no arithmetic") from None
    except DivisionByZero:
        raise ValueError(f"the formula {expression!r} divides by zero") from None
    except InvalidOperation:
        raise ValueError(f"the formula {expression!r} has no result") from None
    if not abs(result) <= _MOST:
        raise ValueError(f"the formula {expression!r} comes to a number without bounds")
    return result


def _value(node: ast.expr, values: Mapping[str, Decimal]) -> Decimal:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, values)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Decimal(str(node.value))
    if isinstance(node, ast.Name):
        if node.id not in values:
            raise ValueError(
                f"the formula names {node.id!r}, which has no value; there is {', '.join(values) or 'none'}"
            )
        return values[node.id]
    raise ValueError(f"a formula has + - * / and brackets, and not {type(node).__name__}")


@dataclass(frozen=True)
class Quantity:
    """A number as it is written ("12%", "10,000") and where it comes from: a section's id, QUESTION or ASSUMPTION."""

    written: str
    source: str

    @property
    def value(self) -> Decimal:
        """The number; a per cent sign divides by 100. Raises ValueError where there is not exactly one number."""
        found = numbers(self.written)
        if len(found) != 1:
            raise ValueError(f"{self.written!r} is not one number")
        return found[0] / 100 if "%" in self.written else found[0]


@dataclass(frozen=True)
class Formula:
    """How a number was computed: an expression over names, what each name stands for, and the unit of the result.

    The result is shown with `digits` behind the point, rounded half up.

    >>> late = Formula("sum * rate", {"sum": Quantity("10,000", ASSUMPTION), "rate": Quantity("12%", "B")}, "EUR")
    >>> late.result, late.shown
    ('EUR 1,200.00', '10,000 × 12% = EUR 1,200.00; assumed: 10,000')
    """

    expression: str
    quantities: Mapping[str, Quantity]
    unit: str = ""
    digits: int = 2

    @property
    def value(self) -> Decimal:
        """The result, not rounded. Raises ValueError where the formula cannot be computed."""
        return compute(self.expression, {name: quantity.value for name, quantity in self.quantities.items()})

    @property
    def rounded(self) -> Decimal:
        """The result as it is shown."""
        return self.value.quantize(Decimal(1).scaleb(-min(max(self.digits, 0), 12)), ROUND_HALF_UP)

    @property
    def result(self) -> str:
        """The result with its unit."""
        return f"{self.unit} {self.rounded:,}".strip()

    @property
    def shown(self) -> str:
        """The formula with its numbers filled in, the result, and which numbers are nobody's but the writer's."""
        filled = re.sub(r"[A-Za-z_]\w*", lambda name: self._written(name.group()), self.expression)
        assumed = ", ".join(one.written for one in self.quantities.values() if one.source == ASSUMPTION)
        return f"{filled.replace('*', '×')} = {self.result}{'; assumed: ' if assumed else ''}{assumed}"

    def _written(self, name: str) -> str:
        return self.quantities[name].written if name in self.quantities else name


def formula_from(entry: Mapping[str, Any]) -> Formula:
    """Return a formula from data: `expression`, `numbers` as name -> (written, source), `unit`. Raises ValueError."""
    try:
        quantities = {
            str(name): Quantity(str(written), str(source)) for name, (written, source) in entry["numbers"].items()
        }
        return Formula(str(entry["expression"]), quantities, str(entry.get("unit", "")))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"This is no formula: {error!r}. It needs expression, numbers and unit.") from None


# --- An answer --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A sentence, the ids of the sections that it rests on, and the formula behind a number that no section holds."""

    text: str
    citations: tuple[str, ...] = ()
    formula: Formula | None = None

    def __str__(self) -> str:
        cited = "".join(f"[{id}]" for id in self.citations)
        computed = f" ({_shown(self.formula)})" if self.formula else ""
        return f"{self.text}{computed} {cited}".strip()


def _shown(formula: Formula) -> str:
    try:
        return formula.shown
    except ValueError as error:
        return f"not computed: {error}"


@dataclass(frozen=True)
class Answer:
    """Claims that passed the check, those that did not, and each problem as a sentence.

    Without a claim that passed the answer is: not in the evidence. `why` says who wrote it, or why nobody did.
    """

    claims: tuple[Claim, ...] = ()
    rejected: tuple[Claim, ...] = ()
    problems: tuple[str, ...] = ()
    why: str = ""
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0

    @property
    def found(self) -> bool:
        """Whether the evidence supports an answer."""
        return bool(self.claims)

    @property
    def text(self) -> str:
        """What the reader sees: the checked claims with their citations."""
        return " ".join(map(str, self.claims)) if self.claims else NOT_FOUND

    def __str__(self) -> str:
        return self.text


# --- The check --------------------------------------------------------------------------------------------------


def check(claim: Claim, question: str, evidence: Evidence) -> list[str]:
    """Return what is wrong with a claim, a sentence each; an empty list where it can be let through.

    Every citation must be a section that was read, capitals aside. Every number must stand in a cited section or in
    the question, or be part or result of a formula that computes, whose numbers stand where it says that they do.

    >>> check(Claim("Interest is 12% a year.", ("7.3",)), "How much?", {"7.3": "See Schedule B.", "B": "12% per year"})
    ['the number 12 stands in none of the cited sections (7.3), nor in the question, nor is it computed']
    """
    ids = {id.casefold(): id for id in evidence}
    inside = _CITATION.findall(claim.text)
    cited = list(dict.fromkeys([*claim.citations, *(id for id in inside if id.casefold() in ids)]))
    found = [
        f"[{id}] was not read: cite {', '.join(evidence) or 'nothing'}" for id in cited if id.casefold() not in ids
    ]
    if not cited:
        found.append("the claim cites no section")
    texts = [evidence[ids[id.casefold()]] for id in cited if id.casefold() in ids]
    computed: list[Decimal] = []
    if claim.formula:
        computed, wrong = _computed(claim.formula, question, evidence, ids)
        found += wrong
    found += [
        f"the number {number} stands in none of the cited sections ({', '.join(cited) or 'none'}), nor in the question,"
        " nor is it computed"
        for number in dict.fromkeys(numbers(claim.text))
        if not any(holds(text, number) for text in [*texts, question]) and number not in computed
    ]
    return found


def _computed(
    formula: Formula, question: str, evidence: Evidence, ids: Mapping[str, str]
) -> tuple[list[Decimal], list[str]]:
    """Return the numbers that a formula accounts for, and what is wrong with it."""
    try:
        result = formula.rounded
    except (ValueError, InvalidOperation) as error:
        return [], [str(error)]
    wrong, known = list[str](), [result]
    for name, quantity in formula.quantities.items():
        written = numbers(quantity.written)[0]
        source = quantity.source
        text = question if source == QUESTION else evidence.get(ids.get(source.casefold(), ""))
        if source == ASSUMPTION:
            known.append(written)
        elif text is None:
            wrong.append(f"{name} = {quantity.written} comes from {source!r}, which was not read")
        elif not holds(text, written):
            wrong.append(f"{name} = {quantity.written} does not stand in {source}")
        else:
            known.append(written)
    return known, wrong


def checked(claims: Sequence[Claim], question: str, evidence: Evidence, **more: Any) -> Answer:
    """Return the answer that is left of some claims: what passes the check, what does not, and why not."""
    problems = [check(claim, question, evidence) for claim in claims]
    good = tuple(claim for claim, wrong in zip(claims, problems, strict=True) if not wrong)
    bad = tuple(claim for claim, wrong in zip(claims, problems, strict=True) if wrong)
    return Answer(good, bad, tuple(sentence for wrong in problems for sentence in wrong), **more)


# --- A stand-in that quotes -------------------------------------------------------------------------------------

QUOTED = 2  # sentences of one section, where several share as many words
_BREAK = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"“])")


def sentences(text: str) -> list[str]:
    """Return a text's sentences on one line each."""
    return [sentence for found in _BREAK.split(text) if (sentence := " ".join(found.split()))]


def _stems(text: str) -> set[str]:
    """Return content words without common endings, so that "accrue" meets "accruing"."""
    content = (word for word in words(text) if word not in QUESTION_WORDS and not word.isdecimal())
    return {re.sub(r"(?:ions?|ing|ed|es|s|e)$", "", word) if len(word) > 4 else word for word in content}


def extract(question: str, evidence: Evidence) -> list[Claim]:
    """Return the sentences of each section that share most words with the question, as claims that cite it.

    A section read because another one pointed to it often shares no word with the question. It may share one with
    the sentences chosen before it, which is how the rate in a schedule is found. No shared word: nothing is quoted.
    A stand-in: it cannot know whether what it quotes is an answer.
    """
    wanted, known, claims = _stems(question), set[str](), list[Claim]()
    for id, text in evidence.items():
        scores = {s: (len(wanted & _stems(s)), len(known & _stems(s))) for s in sentences(text)}
        best = max(scores.values(), default=(0, 0))
        if best[0] or (claims and best[1]):
            quoted = [s for s, score in scores.items() if score == best][:QUOTED]
            claims += [Claim(s, (id,)) for s in quoted]
            known |= {stem for s in quoted for stem in _stems(s)}
    return claims


# --- A model that writes ----------------------------------------------------------------------------------------

INSTRUCTIONS = (
    "You answer a question from the given sections of one document and from nothing else. Write short claims. Cite for "
    "each the ids of the sections it rests on. A number must stand in a cited section; one that you compute needs a "
    "formula: an expression with + - * / over names, and for each name the number as written and its source, which is "
    "a section's id, 'question', or 'assumption' for an example's number. If the sections do not answer the question, "
    "return no claims."
)


def answer_schema(ids: Sequence[str]) -> Schema:
    """Return the JSON schema of an answer: claims whose citations are an enum of the sections read."""
    quantity = _object(
        name={"type": "string"},
        written={"type": "string"},
        source={"type": "string", "enum": [*ids, QUESTION, ASSUMPTION]},
    )
    formula = _object(
        expression={"type": "string"}, numbers={"type": "array", "items": quantity}, unit={"type": "string"}
    )
    claim = _object(
        text={"type": "string"},
        citations={"type": "array", "items": {"type": "string", "enum": list(ids)}},
        formula={"anyOf": [formula, {"type": "null"}]},
    )
    return _object(claims={"type": "array", "items": claim})


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _message(question: str, evidence: Evidence, problems: Sequence[str] = ()) -> str:
    sections = "\n\n".join(f"[{id}] {text}" for id, text in evidence.items())
    rejected = "\n".join(f"- {problem}" for problem in problems)
    again = f"\n\nYour last answer was rejected:\n{rejected}" if rejected else ""
    return f"Question: {question}\n\nSections:\n{sections}{again}"


def would_ask(model: Model, question: str, evidence: Evidence, cache: Cache = None) -> Request:
    """Return the request that `answer` would send, and what it could cost at most; nothing is sent."""
    return model.would_send(INSTRUCTIONS, _message(question, evidence), answer_schema(list(evidence)), cache=cache)


def written(question: str, evidence: Evidence, model: Model, tries: int = 2) -> Answer:
    """Return the checked answer of a model; what the check rejects goes back to it, up to `tries` calls in all.

    Raises ModelError as `Model.ask` does, with what all calls cost; ValueError for fewer than one try.
    """
    if tries < 1:
        raise ValueError(f"tries is {tries}, but one call or more is needed")
    usage, usd, best, problems = Usage(), 0.0, Answer(), tuple[str, ...]()
    for _ in range(tries):
        try:
            reply = model.ask(INSTRUCTIONS, _message(question, evidence, problems), answer_schema(list(evidence)))
        except ModelError as error:
            error.usage, error.usd = usage + error.usage, usd + error.usd
            raise
        usage, usd = usage + reply.usage, usd + reply.usd
        claims = [_claim(entry) for entry in reply.data["claims"]]
        best = checked(claims, question, evidence, why=f"written by {reply.model}", usage=usage, usd=usd)
        if not best.problems:
            break
        problems = best.problems
    return best


def _claim(entry: Mapping[str, Any]) -> Claim:
    given = entry["formula"]
    formula = None
    if given:
        quantities = {one["name"]: Quantity(one["written"], one["source"]) for one in given["numbers"]}
        formula = Formula(given["expression"], quantities, given["unit"])
    return Claim(entry["text"], tuple(entry["citations"]), formula)


# --- The answer -------------------------------------------------------------------------------------------------


def computed_claim(entry: Mapping[str, Any]) -> Claim:
    """Return a claim with a formula from data: as `formula_from`, with `text` (may hold "{result}") and `citations`.

    Raises ValueError where the entry is no formula or cannot be computed.
    """
    formula = formula_from(entry)
    return Claim(str(entry["text"]).replace("{result}", formula.result), tuple(entry["citations"]), formula)


def answer(
    question: str, evidence: Evidence, model: Model | None = None, computations: Sequence[Mapping[str, Any]] = ()
) -> Answer:
    """Return an answer from the evidence {id: text}, with citations and numbers checked.

    A `model` that can be asked writes it. Else sentences are quoted, and `computations` (see `computed_claim`) stand
    in for the arithmetic a model would do; one whose sections were not read is rejected by the same check. Nothing
    found is an answer as well: "not in the evidence". A model that fails leaves the stand-in, and `why` says so.
    Raises ValueError for a blank question.

    >>> print(answer("When are invoices due?", {"7.1": "Invoices are due 30 days after the invoice date."}))
    Invoices are due 30 days after the invoice date. [7.1]
    """
    if not question.strip():
        raise ValueError("There is nothing to answer: the question is blank")
    if not evidence:
        return Answer(why="nothing was read")
    why, failed = "quoted: no model was given", ModelError("", "no key")
    if model is not None:
        try:
            return written(question, evidence, model)
        except ModelError as error:
            why, failed = f"quoted: {error}", error
    claims = extract(question, evidence)
    claims += [computed_claim(entry) for entry in computations] if claims else []
    return checked(claims, question, evidence, why=why, usage=failed.usage, usd=failed.usd)
