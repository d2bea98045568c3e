"""Links inside the course lead somewhere: pages, notebooks, headings, and the paths that pages name."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("workshop/*.md")),
    ROOT / "data/README.md",
]
PAGES = [page for page in PAGES if page.is_file()]
NOTEBOOKS = sorted(path for folder in ("notebooks", "notebooks/solved") for path in (ROOT / folder).glob("*.ipynb"))
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)|(?:href|src)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # https:, mailto:, data:
NAMED = re.compile(r"(?:course_lib|notebooks|tools|docs|tests|data|workshop|benchmarks|binder|\.ci)/[\w./-]*")
MADE_LATER = {"notebooks/my_record.json", "data/transcripts", "data/transcripts/"}


def prose(path: Path) -> str:
    """Return the Markdown of a page, or of all cells of a notebook."""
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells  # type: ignore[no-untyped-call]
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def without_code(text: str) -> str:
    """Return Markdown without fenced code, and with code spans emptied."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "``", text, flags=re.DOTALL)


def links(path: Path) -> Iterator[str]:
    """Give the targets of a page's links that stay inside the course."""
    for one in LINK.finditer(without_code(prose(path))):
        target = one[1] or one[2]
        if not ELSEWHERE.match(target):
            yield target


def anchors(path: Path) -> set[str]:
    """Return what a link may name behind a #: GitHub's form of each heading, and JupyterLab's in a notebook."""
    text = re.sub(r"^(```|~~~).*?^\1", "", prose(path), flags=re.MULTILINE | re.DOTALL)
    headings = [
        re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", one).strip() for one in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    ]
    slugs, seen = set[str](), dict[str, int]()
    for heading in headings:
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        slugs.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return slugs | ({heading.replace(" ", "-") for heading in headings} if path.suffix == ".ipynb" else set())


def broken(path: Path, root: Path = ROOT) -> list[str]:
    """Return the links of a page that lead nowhere, or out of the course."""
    found = []
    for target in links(path):
        name, _, anchor = target.partition("#")
        there = (path.parent / unquote(name)).resolve() if name else path
        leads = there.exists() and there.is_relative_to(root)
        if not leads or (anchor and (there.is_dir() or unquote(anchor) not in anchors(there))):
            found.append(target)
    return found


def paths_named(text: str) -> list[str]:
    """Return the code spans that are paths of the course; NAME and the like stand for something else."""
    spans = re.findall(r"`([^`\n]+)`", text)
    return [one for one in spans if NAMED.fullmatch(one) and not re.search(r"[A-Z]{3}", one) and one not in MADE_LATER]


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_or_a_heading_of_the_course(path: Path) -> None:
    assert broken(path) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_path_that_a_page_names_exists(path: Path) -> None:
    assert [one for one in paths_named(prose(path)) if not (ROOT / one).exists()] == []


def test_the_pages_have_links_and_name_paths() -> None:
    assert sum(len(list(links(page))) for page in PAGES) > 50
    assert sum(len(paths_named(prose(page))) for page in PAGES) > 50


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A `code` heading: two\n\n## Twice\n\n## Twice\n", encoding="utf-8")
    (tmp_path / "a b.md").write_text("", encoding="utf-8")
    page = tmp_path / "page.md"
    good = "[a](there.md) [b](there.md#a-code-heading-two) [c](a%20b.md) [d](https://example.org) [e](there.md#twice-1)"
    page.write_text(
        f"# Here\n\n[x](#here) {good}\n\n```\n[not](a-link.md)\n```\n\n`[nor](this.md)`\n", encoding="utf-8"
    )
    assert broken(page, tmp_path) == []
    bad = ["gone.md", "there.md#gone", "#gone", "../outside.md", "there.md#twice-2"]
    page.write_text(" ".join(f"[`x`]({target})" for target in bad) + ' <a href="lost.html">', encoding="utf-8")
    (tmp_path.parent / "outside.md").write_text("", encoding="utf-8")
    assert broken(page, tmp_path) == [*bad, "lost.html"]


def test_a_path_is_told_from_other_code() -> None:
    said = "`docs/gone.md` `course.py build` `notebooks/NAME.ipynb` `tests/full/` `notebooks/my_record.json` `a/b`"
    assert paths_named(said) == ["docs/gone.md", "tests/full/"]


def test_every_notebook_has_a_row_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| \[`(\w+)`\]\(notebooks/\1\.ipynb\) \|", readme, re.MULTILINE))
    assert rows == {path.stem for path in (ROOT / "notebooks/source").glob("*.py")}
