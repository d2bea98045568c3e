"""What a file holds, as a search and a model may see it: decoded, its secrets blacked out, its lines numbered.

Both tools read files through this module alone, so what is blacked out can neither be read nor be searched for.
"""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeAlias

from course_lib.grep.pattern import load_re2

Kind: TypeAlias = Literal["plain", "rewritten", "binary", "undecodable"]

HEAD: Final = 8000  # bytes: where git looks for a NUL, too
_BOMS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_NOT_IN_TEXT: Final = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1b")

# --- Secrets by name --------------------------------------------------------------------------------------------

SECRET_NAMES: Final = frozenset(
    [
        *(".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials"),
        *(".dockercfg", ".s3cfg", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "shadow", "client_secret.json"),
        *("service-account.json", "service_account.json", "secret.json", "secret.yml", "secret.yaml"),
        *(f"{stem}{ending}" for stem in ("credentials", "secrets") for ending in
          ("", ".json", ".yml", ".yaml", ".toml", ".ini", ".txt", ".xml", ".db")),
    ]
)  # fmt: skip
SECRET_FOLDERS: Final = frozenset({".ssh", ".aws", ".gnupg", ".azure", ".kube"})
SECRET_ENDINGS: Final = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc.key", ".age")
HARMLESS: Final = (".pub", ".example", ".sample", ".template", ".dist")


@lru_cache(maxsize=10_000)
def is_secret(name: str, folder: bool = False) -> bool:
    """Say whether a file or folder of that name is kept from every tool, however it is written.

    >>> is_secret(".env.local"), is_secret("ID_RSA"), is_secret("secrets.py"), is_secret(".env.example")
    (True, True, False, False)
    """
    low = name.lower().rstrip(". ")  # Windows opens ".env." and ".env " as .env
    if folder:
        return low in SECRET_FOLDERS
    if low in SECRET_NAMES or low.endswith(SECRET_ENDINGS):
        return True
    return low.startswith((".env.", "id_rsa.", "id_ed25519.", "client_secret_")) and not low.endswith(HARMLESS)


# --- Secrets by content -----------------------------------------------------------------------------------------

_TOKENS: Final = {
    "access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    "GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "Slack token": r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    "API key": r"\bsk-[A-Za-z0-9_-]{20,}|\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|\bAIza[0-9A-Za-z_-]{35}",
    "package token": r"\bnpm_[A-Za-z0-9]{36}|\bpypi-AgE[A-Za-z0-9_-]{50,}|\bhf_[A-Za-z0-9]{30,}",
    "signed token": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
}
_KEY_BLOCK: Final = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"""(?:[\s"'+,\\]|\\[nr])*(?:(?:Proc-Type|DEK-Info|Version|Comment):[^\n]*\s+)*[A-Za-z0-9+/=]{16}"""
    r"""[A-Za-z0-9+/=\s"'+,\\]*(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?"""
)
_NAMED: Final = (
    r"""(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[a-z_]*["']?"""
    r"""[ \t]*[:=][ \t]*)(["'][^"'\s]{8,}["']|[A-Za-z0-9/+_=-]{20,})"""
)
_IN_ADDRESS: Final = r"(://[^\s:/@\"'<>{}]+:)([^\s:/@\"'<>{}]{3,})@"


@cache
def _finders() -> tuple[tuple[str, Any], ...]:
    re2 = load_re2()
    named = {"private key": _KEY_BLOCK, **_TOKENS, "value": _NAMED, "password": _IN_ADDRESS}
    return tuple((name, re2.compile(text.encode())) for name, text in named.items())


@cache
def _any_finder() -> Any:
    texts = [_KEY_BLOCK, *_TOKENS.values(), _NAMED.removeprefix("(?i)").join(("(?i:", ")")), _IN_ADDRESS]
    return load_re2().compile("|".join(f"(?:{text})" for text in texts).encode())


def redact(content: bytes) -> bytes:
    """Return UTF-8 text with private keys, tokens and passwords replaced by [redacted: …], its lines kept in number.

    Known forms only: a secret that looks like any other word cannot be told by its content.

    >>> redact(b'aws = "AKIAIOSFODNN7EXAMPLE"')
    b'aws = "[redacted: access key]"'
    """
    if _any_finder().search(content) is None:
        return content
    for name, finder in _finders():
        content = finder.sub(lambda match, name=name: _blacked_out(match, name), content)
    return content


def _blacked_out(match: Any, name: str) -> bytes:
    whole: bytes = match.group()
    mark = f"[redacted: {name}]".encode()
    if name == "value":
        return match.group(1) + mark if _looks_drawn(match.group(2)) else whole
    if name == "password":
        return bytes(match.group(1)) + mark + b"@"
    return b"\n".join([mark] * (whole.count(b"\n") + 1))


def _looks_drawn(value: bytes) -> bool:
    """Say whether a value is one that somebody drew or chose: letters and digits, and not blacked out already.

    Without quotes it may as well be the name of a function, so there it needs capitals or more digits as well.
    """
    text = value.strip(b"\"'").decode("utf-8", "replace")
    quoted, digits = value[:1] in b"\"'", sum(letter.isdigit() for letter in text)
    enough = digits >= 3 or (digits > 0 and (quoted or (text != text.lower() and text != text.upper())))
    return enough and any(letter.isalpha() for letter in text) and "[redacted" not in text


# --- Text -------------------------------------------------------------------------------------------------------


def decode(content: bytes) -> str | None:
    """Return the text of a file: UTF-8, UTF-16 or UTF-32 by its mark, else Latin-1; None where it is no text.

    A file with a NUL in its first 8,000 bytes is binary, as for git; one later in a text is only shown as \\x00.

    >>> decode("Größe".encode("latin-1")), decode("Größe".encode("utf-16")), decode(b"\\x7fELF\\0")
    ('Größe', 'Größe', None)
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                return None
    if b"\0" in content[:HEAD]:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None if _NOT_IN_TEXT & set(content) else content.decode("cp1252", "replace")


def searchable(content: bytes) -> bytes | None:
    """Return what may be searched and shown of a file, in UTF-8 with its secrets blacked out; None for no text."""
    text = decode(content)
    return None if text is None else redact(text.encode("utf-8", "replace"))


def kind_of(content: bytes) -> Kind:
    """Sort a file: "plain" as it stands, "rewritten" before it is searched, "binary" or "undecodable"."""
    seen = searchable(content)
    if seen is None:
        marked = content.startswith(tuple(mark for mark, _ in _BOMS))
        return "binary" if b"\0" in content[:HEAD] and not marked else "undecodable"
    return "plain" if seen == content else "rewritten"


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a file as ripgrep counts them: a line ends with a line feed and with nothing else.

    Python's splitlines() also ends one at \\r, \\v, \\f, U+0085, U+2028 and U+2029, and its numbers run ahead.

    >>> len(lines_of("a\\u2028b\\x0bc\\rd\\n".encode()))
    1
    """
    lines = content.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def shown(text: str) -> str:
    """Return a line as it may be printed: what a screen or splitlines() would obey is written out.

    >>> shown("10 %\\r20 %\\x1b[2J")
    '10 %\\\\r20 %\\\\x1b[2J'
    """
    text = text.removesuffix("\r")
    if text.isprintable():
        return text
    return "".join(_written_out(letter) for letter in text)


def _written_out(letter: str) -> str:
    if letter == "\t" or letter.isprintable() or letter == "\u00a0":
        return letter
    return letter.encode("unicode_escape").decode("ascii")


@dataclass(frozen=True)
class Window:
    """A part of a line: its text, and how many characters were left out before and after it."""

    text: str
    before: int = 0
    after: int = 0

    def __str__(self) -> str:
        left = f"[{self.before:,} characters] … " if self.before else ""
        right = f" … [{self.after:,} characters]" if self.after else ""
        return f"{left}{self.text}{right}"


def window(line: bytes, span: tuple[int, int], width: int) -> Window:
    """Return at most `width` characters of a line around the bytes `span`, printable.

    >>> str(window(b"x" * 900 + b"needle" + b"y" * 94, (900, 906), 10))
    '[898 characters] … xxneedleyy … [92 characters]'
    """
    text = line.decode("utf-8", "replace").removesuffix("\r")
    if len(text) <= width:
        return Window(shown(text))
    first = len(line[: span[0]].decode("utf-8", "replace"))
    length = len(line[span[0] : span[1]].decode("utf-8", "replace"))
    start = max(0, min(first - max(0, width - length) // 2, len(text) - width))
    return Window(shown(text[start : start + width]), start, len(text) - start - width)


def numbered(lines: Sequence[bytes], start: int) -> list[str]:
    """Return lines as `read` shows them, e.g. "3: def deliver(event):"."""
    return [f"{number}: {shown(line.decode('utf-8', 'replace'))}" for number, line in enumerate(lines, start)]
