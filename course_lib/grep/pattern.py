"""A pattern in the one dialect that ripgrep and google-re2 read alike, or a sentence on why there is none.

Both engines take linear time because they know no look-around and no back-references. They still differ in small
things: what `\\w` covers, `\\<`, octal numbers, `$` in a file with Windows line ends. So a pattern is rewritten once,
classes as ranges and odd characters by their number, and both get the same text. A search goes line by line, so
nothing here matches a line end: not `.`, not `[^a]`, not `\\s`.
"""

from dataclasses import dataclass, field
from typing import Any, Final

LONGEST_PATTERN: Final = 1000  # characters
MEMORY: Final = 2**20  # bytes for re2's compiled pattern: bounds how slow one pass over a line can get
LINE_ENDS: Final = (10, 13)
LAST: Final = 0x10FFFF

Ranges = list[tuple[int, int]]

_WORD: Final[Ranges] = [(48, 57), (65, 90), (95, 95), (97, 122)]
_DIGIT: Final[Ranges] = [(48, 57)]
_SPACE: Final[Ranges] = [(9, 9), (11, 12), (32, 32)]
_FOLDED: Final = (0x17F, 0x212A)  # ſ and the Kelvin sign: without case they are s and k
CLASSES: Final[dict[str, Ranges]] = {"w": _WORD, "d": _DIGIT, "s": _SPACE}
POSIX: Final[dict[str, Ranges]] = {
    "alnum": [(48, 57), (65, 90), (97, 122)], "alpha": [(65, 90), (97, 122)], "ascii": [(0, 127)],
    "blank": [(9, 9), (32, 32)], "cntrl": [(0, 31), (127, 127)], "digit": _DIGIT, "graph": [(33, 126)],
    "lower": [(97, 122)], "print": [(32, 126)], "punct": [(33, 47), (58, 64), (91, 96), (123, 126)],
    "space": _SPACE, "upper": [(65, 90)], "word": _WORD, "xdigit": [(48, 57), (65, 70), (97, 102)],
}  # fmt: skip
CONTROLS: Final = {"a": 7, "t": 9, "v": 11, "f": 12, "r": 13}
NUMBERED: Final = {"x": 2, "u": 4, "U": 8}
END_OF_LINE: Final = r"(?:\r?$)"

ADVICE: Final = "Search for the plain part and read the lines around the hits."
LOOK_AROUND: Final = "is look-around, which an engine that promises linear time does not have. " + ADVICE
BACK_REFERENCE: Final = "is a back-reference, which an engine that promises linear time does not have. " + ADVICE
LINE_END: Final = "asks for a line end, but a search goes line by line. Search for one line and read on from there."


class PatternError(ValueError):
    """A pattern that cannot be searched for: one sentence that says what in it, and what to do."""


def _refuse(what: str, why: str) -> PatternError:
    return PatternError(f"`{what}` {why}")


@dataclass
class _Reader:
    """Where the rewriting stands in the pattern."""

    text: str
    at: int = 0
    out: list[str] = field(default_factory=list)

    def take(self, length: int = 1) -> str:
        taken = self.text[self.at : self.at + length]
        self.at += length
        return taken

    def ahead(self, start: str) -> bool:
        return self.text.startswith(start, self.at)


def common(pattern: str, ignore_case: bool = True) -> str:
    """Return `pattern` as both engines read it, `^` and `$` meaning the ends of a line.

    Raises PatternError for look-around, back-references, patterns over more than one line, the empty pattern, one
    of more than 1,000 characters, and constructs that only some engine knows.

    >>> print(common("rate.?limit"))
    (?mi)rate[^\\x{A}\\x{D}]?limit
    """
    if not isinstance(pattern, str) or not pattern:
        raise PatternError("The pattern is empty and would match every line. Give at least one word to look for.")
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"The pattern has {len(pattern):,} characters; the most is {LONGEST_PATTERN:,}.")
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in pattern):
        raise PatternError("The pattern holds half a surrogate pair, which stands in no text file.")
    reader = _Reader(pattern)
    while reader.at < len(pattern):
        reader.out.append(_token(reader))
    return f"(?m{'i' if ignore_case else ''})" + "".join(reader.out)


def _token(reader: _Reader) -> str:
    letter = reader.take()
    if letter == "\\":
        return _escape(reader)
    if letter == "[":
        return _class(reader)
    if letter == "(":
        return _group(reader)
    if letter == "{":
        return _repeat(reader)
    if letter in "*+?":
        return _quantifier(reader, letter)
    if letter == ".":
        return _set([], negated=True)
    if letter == "$":
        return END_OF_LINE
    if letter in "\n\r":
        raise _refuse("\\n" if letter == "\n" else "\\r", LINE_END)
    return letter if letter in "^|)" or letter.isalnum() else rf"\x{{{ord(letter):X}}}"


def _quantifier(reader: _Reader, mark: str) -> str:
    if reader.ahead("+"):
        raise _refuse(mark + "+", "is possessive or repeats a repetition, which a linear engine does not have.")
    return mark


def _repeat(reader: _Reader) -> str:
    """Read `{2}`, `{2,}`, `{2,5}` and Python's `{,5}` as counts, any other brace as a brace."""
    end = reader.text.find("}", reader.at)
    low, comma, high = reader.text[reader.at : max(end, reader.at)].partition(",")
    if end < 0 or not (low or high) or not set(low + high) <= set("0123456789"):
        return r"\x{7B}"
    reader.at = end + 1
    return _quantifier(reader, f"{{{low or 0}{comma}{high}}}")


def _group(reader: _Reader) -> str:
    if not reader.ahead("?"):
        return "(?:"
    for start, why in {
        "?=": LOOK_AROUND, "?!": LOOK_AROUND, "?<=": LOOK_AROUND, "?<!": LOOK_AROUND, "?P=": BACK_REFERENCE,
        "?>": "is an atomic group, which a linear engine does not need and does not have.",
        "?(": "is a condition on a group, which a linear engine does not have.",
    }.items():  # fmt: skip
        if reader.ahead(start):
            raise _refuse("(" + start, why)
    if reader.ahead("?P<") or reader.ahead("?<"):  # nobody asks for the group, so it needs no name
        end = reader.text.find(">", reader.at)
        reader.at = len(reader.text) if end < 0 else end + 1
        return "(?:"
    if reader.ahead("?#"):
        end = reader.text.find(")", reader.at)
        reader.at = len(reader.text) if end < 0 else end + 1
        return ""
    return _flags(reader)


def _flags(reader: _Reader) -> str:
    """Keep the flag i; m and s change nothing within a line, and others are refused."""
    reader.take()
    flags = ""
    while reader.at < len(reader.text) and reader.text[reader.at] not in ":)":
        flags += reader.take()
    close = reader.take()
    if not close or set(flags) - set("ims-") or flags.count("-") > 1:
        raise _refuse(f"(?{flags}{close}", "is no group that both engines know; (?:…), (?P<name>…) and (?i) are.")
    on, minus, off = flags.partition("-")
    kept = ("i" if "i" in on else "") + ("-i" if minus and "i" in off else "")
    return f"(?{kept}{close}" if kept or close == ":" else ""


def _escape(reader: _Reader) -> str:
    letter = reader.take()
    if letter in ("A", "Z", "z"):
        return "^" if letter == "A" else END_OF_LINE
    if letter in ("b", "B"):
        return "\\" + letter
    if letter in ("p", "P"):
        return _set([], raw=_property(reader), negated=letter == "P")
    if letter.lower() in CLASSES:
        return _set(CLASSES[letter.lower()], negated=letter.isupper())
    number = _character(reader, letter)
    if number in LINE_ENDS:
        raise _refuse("\\" + letter, LINE_END)
    return rf"\x{{{number:X}}}"


def _character(reader: _Reader, letter: str) -> int:
    """Return the character that an escape stands for; the backslash and `letter` are read already."""
    if letter == "n":
        return 10
    if letter in CONTROLS:
        return CONTROLS[letter]
    if letter in NUMBERED:
        return _by_number(reader, letter)
    if letter and letter in "01234567":
        octal = letter + reader.text[reader.at : reader.at + 2]
        digits = octal[: next((i for i, digit in enumerate(octal) if digit not in "01234567"), len(octal))]
        if letter == "0" or len(digits) == 3:
            reader.take(len(digits) - 1)
            return int(digits, 8)
    if letter.isdigit() or letter in ("k", "g"):
        raise _refuse("\\" + letter, BACK_REFERENCE)
    if not letter or letter.isalpha():
        raise _refuse("\\" + letter, "is no escape that both engines know. Write the character itself.")
    return ord(letter)


def _by_number(reader: _Reader, letter: str) -> int:
    if letter == "x" and reader.ahead("{"):
        end = reader.text.find("}", reader.at)
        digits = reader.take(max(end, reader.at) + 1 - reader.at)[1:-1]
    else:
        digits = reader.take(NUMBERED[letter])
    try:
        number = int(digits, 16)
    except ValueError:
        number = -1
    if not 0 <= number <= LAST or 0xD800 <= number <= 0xDFFF:
        raise _refuse(f"\\{letter}{digits}", "names no character. Write the character itself.")
    return number


def _property(reader: _Reader) -> str:
    name = reader.take()
    if name == "{":
        end = reader.text.find("}", reader.at)
        name += reader.take(max(end, reader.at) + 1 - reader.at)
    if not name.strip("{}").replace("_", "").isalpha():
        raise _refuse("\\p" + name, r"names no kind of letter; \p{L} and \p{Greek} do.")
    return "\\p" + name


def _class(reader: _Reader) -> str:
    """Read a class such as [a-z_] up to its closing bracket."""
    start = reader.at - 1
    negated = reader.ahead("^") and bool(reader.take())
    ranges: Ranges = []
    raw = ""
    first = True
    while first or not reader.ahead("]"):
        first = False
        if reader.at >= len(reader.text):
            raise _refuse(reader.text[start:], "is a class without its closing bracket `]`.")
        low, more = _member(reader)
        if isinstance(low, str):
            raw += low
        elif more is not None:
            ranges += more
        else:
            ranges.append((low, _upper(reader, low, start)))
    reader.take()
    return _set(ranges, raw, negated, shown=reader.text[start : reader.at])


def _member(reader: _Reader) -> tuple[int | str, Ranges | None]:
    """Read one member: (character, None), (anything, ranges) or (a property as text, None)."""
    if reader.ahead("[:") and reader.text.find(":]", reader.at) > 0:
        name = reader.take(reader.text.find(":]", reader.at) + 2 - reader.at)[2:-2]
        if name not in POSIX:
            raise _refuse(f"[:{name}:]", f"is no class; there are {', '.join(POSIX)}.")
        return 0, POSIX[name]
    letter = reader.take()
    if letter != "\\":
        return ord(letter), None
    letter = reader.take()
    if letter in ("w", "d", "s"):
        return 0, CLASSES[letter]
    if letter in ("W", "D", "S"):
        return 0, _others([*CLASSES[letter.lower()], *((end, end) for end in (*LINE_ENDS, *_FOLDED))])
    if letter == "p":
        return _property(reader), None
    if letter == "b":
        return 8, None
    return _character(reader, letter), None


def _upper(reader: _Reader, low: int, start: int) -> int:
    """Return where a range ends that begins at `low`: there itself, unless a hyphen and a character follow."""
    if not reader.ahead("-") or reader.ahead("-]") or reader.at + 1 >= len(reader.text):
        return low
    reader.take()
    high, more = _member(reader)
    if isinstance(high, str) or more is not None or high < low:
        raise _refuse(reader.text[start : reader.at] + "…", "holds a range that runs backwards or ends in a class.")
    return high


def _others(ranges: Ranges) -> Ranges:
    """Return every character that is in none of the ranges.

    >>> _others([(0, 47), (58, 0x10FFFF)])
    [(48, 57)]
    """
    others, free = [], 0
    for low, high in sorted(ranges):
        if free < low:
            others.append((free, low - 1))
        free = max(free, high + 1)
    return [*others, (free, LAST)] if free <= LAST else others


def _set(ranges: Ranges, raw: str = "", negated: bool = False, shown: str = "") -> str:
    """Write a class that never holds a line feed, and when negated never a carriage return either."""
    if negated:
        ranges = [*ranges, *((end, end) for end in LINE_ENDS)]
    else:
        ranges = _others([*_others(ranges), (10, 10)])
        if not ranges and not raw:
            raise _refuse(shown, LINE_END)
    body = "".join(rf"\x{{{low:X}}}" + (rf"-\x{{{high:X}}}" if high > low else "") for low, high in ranges)
    return f"[{'^' if negated else ''}{body}{raw}]"


def for_ripgrep(common_pattern: str) -> str:
    """Return a pattern of `common` as ripgrep takes it, whose word boundaries would else go by Unicode.

    >>> print(for_ripgrep(common(r"\\bretry")))
    (?mi)(?-u:\\b)retry
    """
    return common_pattern.replace(r"\b", r"(?-u:\b)").replace(r"\B", r"(?-u:\B)")


def compiled(pattern: str, ignore_case: bool = True) -> Any:
    """Return google-re2's pattern over bytes for `pattern`. Raises PatternError, also where google-re2 is missing."""
    re2 = load_re2()
    options = re2.Options()
    options.log_errors = False  # else it prints to stderr as well
    options.max_mem = MEMORY
    options.never_capture = True
    try:
        return re2.compile(common(pattern, ignore_case).encode(), options)
    except re2.error as error:
        reason = error.args[0] if error.args else "no reason given"
        raise PatternError(_unreadable(pattern, reason)) from None


def _unreadable(pattern: str, reason: bytes | str) -> str:
    said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    if "too large" in said or "repetition size" in said:
        return (
            f"The pattern {pattern[:80]!r} repeats too much to be searched for ({said}). Use smaller numbers in {{}}."
        )
    return f"The pattern {pattern!r} cannot be read ({said}). To find one of ( ) [ ] * + ? itself, put a \\ before it."


def load_re2() -> Any:
    """Return the module re2. Raises ModuleNotFoundError, with the command that brings it."""
    try:
        import re2
    except ImportError:
        raise ModuleNotFoundError(
            "google-re2, the engine that searches in linear time, is not installed: "
            "run `%pip install google-re2` in a cell of its own, then restart the kernel."
        ) from None
    return re2
