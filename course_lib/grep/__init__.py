"""Move 4: search like a developer. Two tools over a repository, `grep` and `read`, small to read and safe to lend.

The modules in the order of the notebook: `search` (the tools), `repository` (what a path may name), `content` (what
a file may show), `pattern` (what a linear engine can look for), `ripgrep` (the process), `backtracking` (what Python's
own engine does instead), `loop` (a model's calls, what their results cost, and why text in a file gives no orders).
"""

from course_lib.grep.backtracking import Timing, measure_backtracking
from course_lib.grep.loop import (
    Answer,
    Budget,
    Call,
    Ranked,
    Run,
    Step,
    carried,
    scripted,
    search_loop,
    synonyms,
    tool_text,
)
from course_lib.grep.pattern import PatternError
from course_lib.grep.repository import Folder, Memory, PathError, Repository, Skipped
from course_lib.grep.search import Excerpt, Found, Limits, Match, grep, read

__all__ = [
    "Answer", "Budget", "Call", "Excerpt", "Folder", "Found", "Limits", "Match", "Memory", "PathError",
    "PatternError", "Ranked", "Repository", "Run", "Skipped", "Step", "Timing", "carried", "grep",
    "measure_backtracking", "read", "scripted", "search_loop", "synonyms", "tool_text",
]  # fmt: skip
