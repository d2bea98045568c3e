"""The six files of a payment service, small enough to see every line of, and the question an agent asks of them."""

import json
from functools import cache
from types import MappingProxyType

from course_lib.corpora import DATA

FILES = DATA / "repo_files.json"
QUESTION = "How often do we retry a failed payment webhook?"


@cache
def files() -> MappingProxyType[str, str]:
    """Return {path: text} of the repository, in the order of the lesson; it cannot be changed.

    >>> list(files())[:2]
    ['payments/config.py', 'payments/webhooks.py']
    """
    return MappingProxyType(json.loads(FILES.read_text(encoding="utf-8")))
