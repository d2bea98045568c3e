"""These tests need the full environment. Elsewhere they are not collected; `.ci/run` insists on them."""

import os
from importlib.util import find_spec

FULL = find_spec("sentence_transformers") is not None or os.environ.get("COURSE_REQUIRE_FULL") == "1"
collect_ignore_glob = [] if FULL else ["test_*.py"]
