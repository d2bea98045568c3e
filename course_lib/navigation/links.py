"""Where a reference leads: from "Section 7.3", read inside some node, to the ids of nodes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.navigation.labels import ATTACHMENTS, key, label_of
from course_lib.navigation.references import MAIN, Mention
from course_lib.navigation.tree import Node, walk

Number = tuple[int | str, ...]
_ATTACHED = frozenset(word.lower() for word in ATTACHMENTS)


@dataclass(frozen=True)
class Places:
    """What the nodes of one outline are called.

    `scope` says for each id which attachment it lies in ("" for the body; an attachment lies in itself). `tables`
    holds the ids by number: under ("section", scope) those of sections, under (word, "") those of attachments.
    `below` holds, for each table and number, the ids whose numbers begin with it.
    """

    scope: dict[str, str]
    tables: dict[tuple[str, str], dict[Number, str]]
    below: dict[tuple[str, str], dict[Number, list[str]]]


def places(nodes: Sequence[Node]) -> Places:
    """Read ids and titles of a tree: "7.3", "ARTICLE IV: Fees", "Schedule B: Rates".

    An id whose title does not say what it is may be any attachment: "B" of a tree made elsewhere.
    """
    found = Places({}, {}, {})
    unnamed: dict[Number, str] = {}
    for node in walk(nodes):
        label = label_of(node.title)
        attached = label is not None and label.kind == "attachment"
        scope = found.scope[node.id] = node.id if attached else found.scope.get(node.id, "")
        found.scope.update({child.id: scope for child in node.children})
        if label and attached:
            found.tables.setdefault((_one_word(label.word), ""), {}).setdefault(label.key, node.id)
        elif node.id[0].isalpha():
            unnamed.setdefault(key(node.id), node.id)
        number = _number(node, scope)
        if number != key(scope):
            found.tables.setdefault(("section", scope), {}).setdefault(number, node.id)
    for word in _ATTACHED:
        found.tables[word, ""] = unnamed | found.tables.get((word, ""), {})
    for name, table in found.tables.items():
        for number, id in table.items():
            for size in range(1, len(number)):
                found.below.setdefault(name, {}).setdefault(number[:size], []).append(id)
    return found


def _number(node: Node, scope: str) -> Number:
    """Return a section's number in its scope: that of its id, or of its title where the id is a running one."""
    label = label_of(node.title)
    if label and label.kind != "attachment" and re.fullmatch(r"n\d+(\.[\w.]+)?", node.id):
        return label.key
    return key(node.id.removeprefix(f"{scope}.").split("#")[0])


def _one_word(word: str) -> str:
    return "annex" if word.lower() == "annexure" else word.lower()


def resolve(mention: Mention, source: str, known: Places) -> tuple[tuple[str, ...], str]:
    """Return the ids that a mention leads to, read from inside the node `source`, and a note where it is inexact.

    Inside an attachment its own sections come first, unless the mention says whose they are. A section that is no node
    itself is read as all those whose numbers begin with its own: "Section 7" of an outline with 7.1 to 7.3 is these.
    """
    names, whole = _tables_for(mention, source, known)
    for name in names:
        table = known.tables.get(name, {})
        if found := _between(table, mention) if mention.to else _exactly(table, mention):
            return found, ""
    for name in names:
        below = tuple(known.below.get(name, {}).get(key(mention.number), ()))
        if below and not mention.to:
            return below, f"no node is {mention.word} {mention.number}; read as {', '.join(below)}"
    if whole:
        return (whole,), f"no node is {mention.word} {mention.number} of {whole}; read as all of it"
    return (), ""


def _tables_for(mention: Mention, source: str, known: Places) -> tuple[list[tuple[str, str]], str]:
    """Return where to look a mention up, in order, and the attachment that it is said to be of, "" for none."""
    if mention.word in _ATTACHED:
        return [(mention.word, "")], ""
    own = known.scope.get(source, "")
    if mention.within == MAIN:
        scopes, whole = ["", own], ""
    elif mention.within:
        word, number = mention.within.split(" ", 1)
        whole = known.tables.get((word, ""), {}).get(key(number), "")
        scopes = [whole] if whole else []
    else:
        scopes, whole = [own, ""], ""
    return [("section", scope) for scope in dict.fromkeys(scopes)], whole


def _exactly(table: dict[Number, str], mention: Mention) -> tuple[str, ...]:
    """Return the place itself, that of its paragraph before all: "Exhibit 10.2(a)" may be an exhibit of its own."""
    for number in (key(mention.number + mention.inner), key(mention.number)):
        if number in table:
            return (table[number],)
    return ()


def _between(table: dict[Number, str], mention: Mention) -> tuple[str, ...]:
    """Return the places from the first to the last of a range, as they follow each other in the document."""
    first, last = key(mention.number), key(mention.to)
    if len(last) < len(first):  # "3.1-4" is short for 3.1-3.4
        last = first[: len(first) - len(last)] + last
    numbers = [number for number in table if len(number) == len(first)]
    if first not in numbers or last not in numbers:
        return ()
    return tuple(table[number] for number in numbers[numbers.index(first) : numbers.index(last) + 1])
