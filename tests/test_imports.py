import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {"anthropic", "sentence_transformers", "torch", "tiktoken", "ipywidgets", "matplotlib", "huggingface_hub"}
FILES = sorted((ROOT / "course_lib").rglob("*.py"))
MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in FILES]


def imported_at_top(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    plain = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    named = [node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in plain + named}


def test_there_are_modules_to_look_at():
    assert "course_lib.dense" in MODULES


@pytest.mark.parametrize("path", FILES, ids=MODULES)
def test_heavy_packages_are_imported_only_inside_functions(path):
    assert not imported_at_top(path) & HEAVY


def test_importing_everything_loads_nothing_heavy_and_opens_no_connection():
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('a connection at import time')\n"
        "socket.socket.connect = refuse\n"
        f"for name in {MODULES!r}: __import__(name)\n"
        f"print(sorted(set(sys.modules) & {HEAVY!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr + done.stdout
