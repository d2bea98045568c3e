"""References in a text: "Section 7.3", "Schedule B", "Sections 3 to 5", "Sections 2, 3 and 4(b)", "Exhibit 10.2(a)".

Here they are found and read; where they lead is for the outline to say. A reference to another document or to a law
("Section 16 of the Securities Act", "Article 6 of the GDPR") is told apart by the words around it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_SECTIONS = "[Ss]ub-?[Ss]ections?|[Ss]ections?|SUBSECTIONS?|SECTIONS?|[Ss]ub-?[Cc]lauses?|[Cc]lauses?|CLAUSES?"
_SECTIONS += "|[Pp]aragraphs?|PARAGRAPHS?|[Aa]rticles?|ARTICLES?|§{1,2}"
_ATTACHED = "[Ee]xhibits?|EXHIBITS?|[Ss]chedules?|SCHEDULES?|[Aa]nnex(?:es)?|ANNEX(?:ES)?|[Aa]ppendi(?:x|ces)"
_ATTACHED += "|APPENDI(?:X|CES)|[Aa]ttachments?|ATTACHMENTS?"

_GAP = r"[ \t]*(?:\r?\n[ \t]*)?"  # a line may end inside a reference, a paragraph may not
_SPACE = r"(?:[ \t]+(?:\r?\n[ \t]*)?|\r?\n[ \t]*)"
_DECIMAL = r"\d{1,3}(?:\.\d{1,3}){0,5}[A-Za-z]?"
_ROMAN = r"[IVXL]{1,7}"
_INNER = r"(?:[ \t]?\([A-Za-z0-9]{1,4}\)){0,4}"  # (a)(ii)
_NUMBER = rf"(?:{_DECIMAL}|{_ROMAN})(?![\w]|\.\d)"
_LETTER = rf"(?:{_DECIMAL}|{_ROMAN}|[A-Z]{{1,2}})(?:-[A-Z0-9]{{1,3}})?(?![\w]|\.\d)"
_TITLE = r"(?:[ \t]*\([A-Za-z][^()\n]{4,80}\))?"  # Paragraph 12.03 (Failure to Perform)
_THROUGH = r"to|through|thru|until|-|\u2013|\u2014"
_JOIN = rf"(?:{_GAP}[,;]){{0,2}}{_GAP}(?P<join>(?i:and/or|and|or|to|through|thru|until)(?!\w)|[&\u2013\u2014-]"
_JOIN += rf"|(?<=[,;])|(?<=[,;]\s)){_GAP}"

_FIRST = re.compile(
    rf"(?<![\w§])(?:(?P<section>{_SECTIONS}){_GAP}(?P<number>{_NUMBER})"
    rf"|(?P<attached>{_ATTACHED}){_SPACE}(?P<letter>{_LETTER}))(?P<inner>{_INNER}){_TITLE}"
)
_NEXT = {
    True: re.compile(rf"{_JOIN}(?:(?P<word>{_SECTIONS}){_GAP})?(?P<number>{_NUMBER})(?P<inner>{_INNER}){_TITLE}"),
    False: re.compile(rf"{_JOIN}(?:(?P<word>{_ATTACHED}){_SPACE})?(?P<number>{_LETTER})(?P<inner>{_INNER}){_TITLE}"),
}
_MORE_INNER = re.compile(rf"(?:,?{_SPACE}(?:and|or|to|through)|,){_SPACE}\([a-z0-9]{{1,4}}\)")  # "(ii) and (iii)"
_UNIT = re.compile(
    r"[ \t]*(?:%|\(?\w+\)?[ \t])?[ \t]*(?:%|percent|(?:business |calendar )?(?:days?|weeks?|months?|years?|hours?)\b)"
)

_LAW = (
    r"(?:Acts?|ACTS?|Codes?|CODE|Regulations?|Rules?|Directives?|Laws?|Statutes?|Constitution|Treaty|Convention|Ordinance"
    r"|U\.?S\.?C\.?|C\.?F\.?R\.?|GDPR|DSGVO|UCC|BGB|HGB|TFEU|ERISA|CISG)\b"
)
_NAME_PART = r"(?:U\.S\.|[A-Z][\w&’'-]*|and|of|for|on|the|\([A-Z]{1,5}\)),?"  # Food, Drug and Cosmetic Act
_OF_LAW = re.compile(rf"(?:{_NAME_PART}{_SPACE}){{0,10}}?{_LAW}")
_LAW_BEFORE = re.compile(
    r"\b(?:Act|Code|Regulations?|Rules?|Directive|U\.?S\.?C\.?|C\.?F\.?R\.?|GDPR|DSGVO|Law)"
    r"(?: of \d{4})?,?[ \t]*$"
)
_LAW_NEXT = re.compile(r"[ \t]*(?:of the )?(?:GDPR|DSGVO|UCC|BGB|HGB|TFEU|TEU|ERISA|CISG|U\.S\.C)\b")
_OF = re.compile(
    rf"(?:{_GAP}\([^()\n]{{1,80}}\))?,?(?:{_SPACE}(?:above|below),?)?{_SPACE}(?P<thereof>thereof|thereto|thereunder)\b"
    rf"|(?:{_GAP}\([^()\n]{{1,80}}\)){{0,2}}\)?,?{_SPACE}(?:of|to|under|in|set forth in|contained in){_SPACE}"
    r"(?:(?P<article>the|that|such|said|an?y?|its|their|any other|each|this|these)\b)?"
    rf"(?:{_SPACE}(?P<certain>certain)\b)?{_GAP}"
    rf"(?P<what>[A-Z][\w&’'-]*(?:{_SPACE}(?:[A-Z][\w&’'-]*|and|of|for)){{0,7}})?"
)
_DOCUMENT = re.compile(
    r"(?:Agreement|Contract|Lease|Indenture|Deed|Plan|License|Licence|Charter|Bylaws|By-Laws|Amendment|Memorandum"
    r"|Note|Policy|Order|Schedule|Exhibit|Appendix|Letter|Form|Incorporation|Statement|Certificate|SOW|MSA|SPA|NDA)s?$"
)
_THIS = re.compile(r"[ \t]*(?:,|\([^()\n]{1,80}\))*[ \t]*(?:of|to|in|under)[ \t\n]+(?:this|the (?:main )?Agreement\b)")
MAIN = "the agreement"
_OF_MAIN = re.compile(rf"{_SPACE}(?:of|in|to|under){_SPACE}the (?:main )?Agreement\b")
_OF_ATTACHED = re.compile(rf"{_SPACE}(?:of|in|to){_SPACE}(?P<word>{_ATTACHED}){_SPACE}(?P<number>{_LETTER})")


@dataclass(frozen=True)
class Mention:
    """One place that a text refers to, between two characters of it.

    `word` is the kind as a singular in lower case ("section", "schedule"), `number` what is named ("7.3", "IV", "B"),
    `to` the end of a range and "" otherwise, `inner` the paragraph inside it ("(a)(ii)"). `elsewhere` is "" for this
    document, else "a law" or the name of the other document. `within` is the attachment that a section is said to be
    of ("schedule B"), "the agreement" for its body, else "".
    """

    word: str
    number: str
    start: int
    end: int
    to: str = ""
    inner: str = ""
    elsewhere: str = ""
    within: str = ""

    @property
    def printed(self) -> str:
        """The reference alone: "section 7.3(a)", "sections 3 to 5"."""
        return f"{self.word}s {self.number} to {self.to}" if self.to else f"{self.word} {self.number}{self.inner}"


def mentions(text: str) -> list[Mention]:
    """Return every reference in `text`, one for each number that a list names and one for a range.

    >>> [found.printed for found in mentions("See Sections 2, 3 and 4(b), Sections 3.1-3.4 and Schedule B.")]
    ['section 2', 'section 3', 'section 4(b)', 'sections 3.1 to 3.4', 'schedule B']
    >>> [found.elsewhere for found in mentions("Section 16 of the Securities Act; Section 2 of the Lease Agreement")]
    ['a law', 'Lease Agreement']
    """
    found: list[Mention] = []
    at = 0
    while first := _FIRST.search(text, at):
        group = list(_group(text, first))
        found += group
        at = max(first.end(), group[-1].end)
    return found


def _group(text: str, first: re.Match[str]) -> Iterator[Mention]:
    """Give what one "Sections 2, 3 and 4(b)" names. Whose sections they are is said after the last."""
    is_section = first["section"] is not None
    words = first["section"] or first["attached"]
    word, end, worded = _singular(words), first.end(), 0
    items = [Mention(word, first["number"] or first["letter"], first.start(), end, inner=_inner(first))]
    while (after := _NEXT[is_section].match(text, end)) and _continues(text, words, items[0].number, after):
        word, end = _singular(after["word"] or word), after.end()
        if re.fullmatch(_THROUGH, after["join"], re.IGNORECASE) and not items[-1].to:
            items[-1] = replace(items[-1], to=after["number"], end=end)
        else:
            worded = len(items) if after["word"] else worded
            start = after.start("word" if after["word"] else "number")
            items.append(Mention(word, after["number"], start, end, inner=_inner(after)))
    while more := _MORE_INNER.match(text, end):
        end = more.end()
    whose, within = _whose(text, first.start(), end), _within(text, end)
    for at, item in enumerate(items):  # "Section 2 and Articles 6 and 7 of the GDPR": the articles are its own
        yield replace(item, elsewhere=whose, within=within) if at >= worded else item


def _within(text: str, end: int) -> str:
    """Return the attachment that a section is said to be of ("schedule B"), or "the agreement", else ""."""
    if found := _OF_ATTACHED.match(text, end):
        return f"{_singular(found['word'])} {found['number']}"
    return MAIN if _OF_MAIN.match(text, end) else ""


def _inner(found: re.Match[str]) -> str:
    return "".join(found["inner"].split())


def _continues(text: str, words: str, first: str, after: re.Match[str]) -> bool:
    """Whether a further number belongs to the list: "Section 5.1, 30 days" and "Exhibit A and B Corp" do not."""
    if _UNIT.match(text, after.end("number")):
        return False
    plural = _singular(words) != words.lower().replace("-", "") and words != "§"
    return plural or bool(after["word"]) or ("." in first and "." in after["number"])


def _singular(word: str) -> str:
    word = word.lower().replace("-", "")
    special = {"annexes": "annex", "appendices": "appendix", "§": "section", "§§": "section"}
    return special.get(word, word.removesuffix("s"))


def _whose(text: str, start: int, end: int) -> str:
    """Return "" for this document, "a law", or the name of another document, from the words around a reference."""
    if _LAW_BEFORE.search(text, max(0, start - 60), start) or _LAW_NEXT.match(text, end):
        return "a law"
    if _THIS.match(text, end):
        return ""
    of = _OF.match(text, end)
    if of is None:
        return ""
    if of["thereof"]:
        return "another document"
    what = " ".join((of["what"] or "").split())
    if of["article"] in ("the", "that", "such", "said", "any", None) and _OF_LAW.match(
        text, of.start("what") if what else of.end()
    ):
        return "a law"
    if of["certain"]:
        return what or "another document"
    if _DOCUMENT.search(what) and what not in ("Agreement", "Contract", "Schedule", "Exhibit", "Appendix"):
        return what
    return what if re.search(r"(?:^| )[A-Z]{3,5}$", what) and of["article"] in ("the", "that") else ""
