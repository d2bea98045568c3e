"""course.py, run as a learner runs it: as a script, in a project folder of its own with tiny packages.

The packages are three wheels made here, installed from the folder itself by a real pip into a real environment.
Their `python -m NAME` prints its arguments, so that a test sees what course.py would have started.
"""

import ast
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / "course.py"
FOLDER = "Mein Kurs für Ä"
OFFLINE = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "2"}
FAKE = """
import json, os, sys, time
said = {"name": __package__, "argv": sys.argv[1:], "cwd": os.getcwd(), "utf8": sys.flags.utf8_mode}
print(json.dumps(said), flush=True)
if os.environ.get("FAKE_STAYS"):
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        print("fake closed its kernels", flush=True)
sys.exit(int(os.environ.get("FAKE_CODE", "0")))
"""


def wheel(folder: Path, name: str) -> None:
    """Write the smallest wheel that pip installs and `python -m NAME` runs."""
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{name}/__main__.py", FAKE)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")


def bare_project(folder: Path) -> Path:
    """Make a project that has course.py and pins, and nothing installed."""
    (folder / "wheels").mkdir(parents=True)
    for name in ("jupyterlab", "weights", "pytest", "torch"):
        wheel(folder / "wheels", name)
    local = "--no-index\n--find-links wheels\n"
    pins = {"": "jupyterlab", "-weights": "weights", "-test": "pytest", "-full": "torch"}
    for part, name in pins.items():
        (folder / f"requirements{part}.txt").write_text(f"{local}{name}==1.0\n", encoding="utf-8")
    shutil.copy(SCRIPT, folder / "course.py")
    for package in ("course_lib", "tools"):
        (folder / package).mkdir()
    for module in ("course_lib/doctor", "tools/build", "tools/vectors", "tools/kit", "tools/record"):
        text = "import sys; print('ran', sys.argv[1:], sys.prefix)\n"
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return folder


def course(project: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run course.py as a learner does, from another folder than the project's."""
    env = {name: value for name, value in os.environ.items() if name != "PIP_FIND_LINKS"} | settings
    command = [sys.executable, str(project / "course.py"), *arguments]
    return subprocess.run(
        command, cwd=project.parent, env=env, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL
    )


def started(result: subprocess.CompletedProcess[str]) -> dict:
    """Return what the fake package says about how it was started."""
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    assert lines, result.stdout + result.stderr
    return json.loads(lines[-1])


def refused(result: subprocess.CompletedProcess[str]) -> str:
    """Return the sentence with which course.py gave up: exit code 1, no traceback."""
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    project = bare_project(tmp_path_factory.mktemp("first") / FOLDER)
    return project, course(project, "lab", "--no-browser", **OFFLINE)


@pytest.fixture
def installed(first_start: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> Path:
    """A project after its first start, moved to another folder."""
    assert first_start[1].returncode == 0, first_start[1].stdout + first_start[1].stderr
    return shutil.copytree(first_start[0], tmp_path / f"moved to {FOLDER}", symlinks=True)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return bare_project(tmp_path / FOLDER)


@pytest.fixture
def module(bare: Path) -> ModuleType:
    """course.py of a bare project as a module, for what cannot be brought about from outside."""
    spec = importlib.util.spec_from_file_location("course_under_test", bare / "course.py")
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def no_install(project: Path) -> None:
    """From here on nothing can be installed: the packages are gone."""
    shutil.rmtree(project / "wheels")


# --- the first start and the second -----------------------------------------------------------------------------


def test_the_first_start_installs_in_a_folder_with_spaces_and_umlauts(first_start) -> None:
    project, result = first_start
    assert result.returncode == 0, result.stderr
    assert "Making .venv" in result.stdout
    assert "600 MB" in result.stdout
    stamp = json.loads((project / ".venv/course-complete.json").read_text(encoding="utf-8"))
    assert stamp["python"] == "{}.{}".format(*sys.version_info[:2])
    assert list(stamp["pins"]) == ["light"]


def test_jupyterlab_opens_the_first_notebook_of_this_project_on_this_machine_only(first_start) -> None:
    project, result = first_start
    fake = started(result)
    assert fake["name"] == "jupyterlab"
    assert Path(fake["cwd"]) == project
    assert fake["utf8"] == 1
    for argument in (
        "--no-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={project}",
        "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ):
        assert argument in fake["argv"]
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    assert ("--allow-root" in fake["argv"]) == as_root
    assert not any("port" in argument for argument in fake["argv"])


def test_jupyterlab_does_not_ask_about_news(installed: Path) -> None:
    overrides = json.loads((installed / ".venv/share/jupyter/lab/settings/overrides.json").read_text("utf-8"))
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_a_second_start_installs_nothing(installed: Path) -> None:
    no_install(installed)
    log = (installed / ".venv/course-install.log").stat().st_mtime_ns
    result = course(installed, "lab", "--no-browser", **OFFLINE)
    assert result.returncode == 0, result.stderr
    assert "Installing" not in result.stdout
    assert (installed / ".venv/course-install.log").stat().st_mtime_ns == log


def test_the_browser_opens_unless_told_not_to(installed: Path) -> None:
    assert "--no-browser" not in started(course(installed, "lab"))["argv"]


def test_changed_pins_are_installed_in_place(installed: Path) -> None:
    keepsake = installed / ".venv/keepsake"
    keepsake.touch()
    with (installed / "requirements.txt").open("a", encoding="utf-8") as pins:
        pins.write("torch==1.0\n")
    result = course(installed, "lab", "--no-browser")
    assert "have changed" in result.stdout
    assert keepsake.exists()
    assert list(installed.glob(".venv/**/torch/__main__.py"))
    assert "Installing" not in course(installed, "lab", "--no-browser").stdout


def test_line_ends_changed_by_git_are_no_changed_pins(installed: Path) -> None:
    no_install(installed)
    pins = installed / "requirements.txt"
    pins.write_bytes(pins.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert course(installed, "lab", "--no-browser").returncode == 0


def test_an_update_that_fails_leaves_no_stamp_for_the_half_changed_set(installed: Path) -> None:
    (installed / "requirements.txt").write_text("--no-index\nnowhere==1.0\n", encoding="utf-8")
    refused(course(installed, "lab", "--no-browser"))
    stamp = json.loads((installed / ".venv/course-complete.json").read_text(encoding="utf-8"))
    assert stamp["pins"] == {}


def test_full_is_added_to_light_and_then_kept_up_to_date(installed: Path) -> None:
    assert course(installed, "lab", "--no-browser", "--full").returncode == 0
    assert list(installed.glob(".venv/**/torch/__main__.py"))
    with (installed / "requirements-full.txt").open("a", encoding="utf-8") as pins:
        pins.write("# a later version of the course\n")
    assert "torch" in course(installed, "lab", "--no-browser").stdout


# --- environments that must not be trusted ----------------------------------------------------------------------


def test_an_interrupted_installation_is_made_anew_and_said_so(installed: Path) -> None:
    (installed / ".venv/course-complete.json").unlink()
    (installed / ".venv/half-unpacked").mkdir()
    result = course(installed, "lab", "--no-browser")
    assert result.returncode == 0, result.stderr
    assert "interrupted" in result.stdout
    assert not (installed / ".venv/half-unpacked").exists()


def test_an_installation_stopped_before_anything_was_made_is_recognised(bare: Path) -> None:
    (bare / ".venv").mkdir()
    (bare / ".venv/course-started").touch()
    result = course(bare, "lab", "--no-browser")
    assert result.returncode == 0, result.stderr
    assert "interrupted" in result.stdout


def test_an_interruption_while_clearing_up_is_recognised_too(module: ModuleType, monkeypatch) -> None:
    venv = module.ROOT / ".venv"
    venv.mkdir()
    (venv / "course-started").touch()
    (venv / "half-unpacked").touch()

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Path, "mkdir", interrupt)  # what comes next after clearing up
    assert module.main(["lab", "--no-browser"]) == 130
    assert [path.name for path in venv.iterdir()] == ["course-started"]


def test_a_foreign_environment_is_not_touched(bare: Path) -> None:
    (bare / ".venv").mkdir()
    (bare / ".venv/mine.txt").write_text("mine", encoding="utf-8")
    assert ".venv was not made by course.py" in refused(course(bare, "lab", "--no-browser"))
    assert [path.name for path in (bare / ".venv").iterdir()] == ["mine.txt"]


def test_a_file_of_that_name_is_not_touched(bare: Path) -> None:
    (bare / ".venv").write_text("mine", encoding="utf-8")
    assert ".venv was not made by course.py" in refused(course(bare, "lab", "--no-browser"))
    assert (bare / ".venv").read_text(encoding="utf-8") == "mine"


def test_an_environment_of_another_python_names_both_versions_and_stays(installed: Path) -> None:
    stamp = installed / ".venv/course-complete.json"
    text = stamp.read_text(encoding="utf-8")
    stamp.write_text(json.dumps(json.loads(text) | {"python": "3.99"}), encoding="utf-8")
    sentence = refused(course(installed, "lab", "--no-browser"))
    assert "made with Python 3.99" in sentence
    assert "this is Python {}.{}".format(*sys.version_info[:2]) in sentence
    assert "delete the folder .venv" in sentence
    assert (installed / ".venv/course-install.log").exists()


def test_an_environment_whose_python_is_gone_says_what_to_do(installed: Path) -> None:
    folder = installed / ".venv" / ("Scripts" if os.name == "nt" else "bin")
    for python in folder.glob("python*"):
        python.unlink()
    sentence = refused(course(installed, "lab", "--no-browser"))
    assert "no longer runs" in sentence
    assert "Delete the folder .venv" in sentence
    assert folder.exists()


# --- what can be wrong with the machine -------------------------------------------------------------------------


def test_without_a_network_the_first_start_says_so_and_names_the_log(bare: Path) -> None:
    (bare / "requirements.txt").write_text("jupyterlab==1.0\n", encoding="utf-8")
    (bare / "requirements-weights.txt").write_text("weights==1.0\n", encoding="utf-8")
    sentence = refused(course(bare, "lab", "--no-browser", **OFFLINE))
    assert "no network" in sentence
    assert ".venv/course-install.log" in sentence
    assert str(bare) not in sentence
    assert (bare / ".venv/course-install.log").read_text(encoding="utf-8")
    assert not (bare / ".venv/course-complete.json").exists()


def test_an_index_that_cannot_be_asked_and_is_not_asked_again_is_no_network(module: ModuleType) -> None:
    lines = ["ERROR: Could not find a version that satisfies the requirement x==1.0 (from versions: none)\n"]
    assert "no network" in module.pip_problem(lines, "the log")
    lines = ["ERROR: Could not find a version that satisfies the requirement x==1.0 (from versions: 0.9)\n"]
    assert "no network" not in module.pip_problem(lines, "the log")


def test_another_failure_of_pip_shows_its_last_lines(bare: Path) -> None:
    (bare / "requirements.txt").write_text("this is no requirement\n", encoding="utf-8")
    sentence = refused(course(bare, "lab", "--no-browser"))
    assert "Invalid requirement" in sentence
    assert ".venv/course-install.log" in sentence
    assert "network" not in sentence


def test_a_taken_port_is_said_before_anything_is_installed(bare: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"Port {port} cannot be used" in refused(course(bare, "lab", "--port", port))
    assert not (bare / ".venv").exists()


def test_a_port_that_does_not_exist_is_a_sentence(bare: Path) -> None:
    assert "Port 99999 cannot be used" in refused(course(bare, "lab", "--port", "99999"))


def test_a_free_port_is_taken_and_no_other(installed: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = started(course(installed, "lab", "--port", str(port)))["argv"]
    assert f"--ServerApp.port={port}" in argv
    assert "--ServerApp.port_retries=0" in argv


def test_an_old_python_is_told_which_one_is_needed(module: ModuleType) -> None:
    assert "3.11 or newer, and this is Python 3.6" in module.python_problem((3, 6, 15))
    assert module.python_problem((3, 10, 13))
    assert module.python_problem((3, 11, 0)) == ""
    assert module.python_problem((4, 0)) == ""


def test_the_script_parses_on_an_old_python() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 6))


def test_only_the_standard_library_is_imported_and_nothing_that_only_posix_has() -> None:
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    assert not names & {"fcntl", "pwd", "grp", "termios", "resource", "pty"}
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not used & {"geteuid", "getuid", "killpg", "setsid", "fork", "chmod", "SIGKILL", "symlink_to"}


def test_a_folder_that_may_not_be_written_is_a_sentence(module: ModuleType, monkeypatch, capsys) -> None:
    def no_permission(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(module.Path, "mkdir", no_permission)
    assert module.main(["lab", "--no-browser"]) == 1
    assert "No permission to write" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_names_the_package_to_install(module: ModuleType, missing, monkeypatch, capsys) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == missing else True)
    assert module.main(["lab", "--no-browser"]) == 1
    assert "python3-venv" in capsys.readouterr().err
    assert not (module.ROOT / ".venv").exists()


# --- how it ends ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="signals to one process work differently on Windows")
@pytest.mark.parametrize(("signal_name", "code"), [("SIGINT", 0), ("SIGTERM", 143)])
def test_a_signal_ends_jupyterlab_too_and_shows_no_traceback(installed: Path, signal_name: str, code: int) -> None:
    import signal

    process = subprocess.Popen(
        [sys.executable, str(installed / "course.py"), "lab", "--no-browser"],
        env=os.environ | {"FAKE_STAYS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    assert process.stdout
    while not process.stdout.readline().startswith("{"):
        assert process.poll() is None
    time.sleep(0.2)  # the fake has printed; now it sleeps
    if signal_name == "SIGINT":
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    else:
        process.terminate()  # as a service manager does: to course.py alone
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in rest
    assert ("JupyterLab has ended" in rest) == (signal_name == "SIGINT")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # nobody of the group is left


def test_the_exit_code_of_jupyterlab_is_passed_on(installed: Path) -> None:
    assert course(installed, "lab", FAKE_CODE="3").returncode == 3


# --- the other verbs --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = bare_project(tmp_path_factory.mktemp("tested") / FOLDER)
    (project / "notebooks/solved").mkdir(parents=True)
    result = course(project, "test", "-k", "name", "tests/x.py", "--", "-x", FAKE_CODE="5")
    (project / "result.json").write_text(json.dumps([result.returncode, result.stdout]), encoding="utf-8")
    return project


def test_the_tests_get_an_environment_of_their_own(tested: Path) -> None:
    assert not (tested / ".venv").exists()
    assert list(tested.glob(".venv-test/**/pytest/__main__.py"))


def test_the_learners_environment_holds_no_test_package(installed: Path) -> None:
    assert not list(installed.glob(".venv/**/pytest/__main__.py"))


def test_further_arguments_go_to_pytest_in_order_and_its_code_comes_back(tested: Path) -> None:
    code, output = json.loads((tested / "result.json").read_text(encoding="utf-8"))
    fake = json.loads([line for line in output.splitlines() if line.startswith("{")][-1])
    assert code == 5
    assert fake["name"] == "pytest"
    assert [word for word in fake["argv"] if word != "--"][-4:] == ["-k", "name", "tests/x.py", "-x"]


@pytest.mark.parametrize(("version", "flag"), [("3.11", "--nbval"), ("3.13", "--nbval-lax")])
def test_solved_notebooks_are_compared_strictly_on_311_and_loosely_elsewhere(
    module: ModuleType, version: str, flag: str, monkeypatch
) -> None:
    commands: list[list] = []
    monkeypatch.setattr(module, "environment", lambda *_: Path("python"))
    monkeypatch.setattr(module, "version_of", lambda _: version)
    monkeypatch.setattr(module, "run", lambda command: commands.append(command) or 0)
    (module.ROOT / "notebooks/solved").mkdir(parents=True)
    assert module.main(["test"]) == 0
    argv = commands[0]
    assert argv[3] == flag
    assert {"--nbval-current-env", "--nbval-cell-timeout=120"} <= set(argv)
    assert argv[argv.index("--nbval-sanitize-with") + 1] == "tests/nbval_sanitize.cfg"


def test_without_solved_notebooks_nbval_is_not_asked(tested: Path, tmp_path: Path) -> None:
    project = shutil.copytree(tested, tmp_path / "copy", symlinks=True)
    shutil.rmtree(project / "notebooks")
    assert started(course(project, "test"))["argv"] == ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]


@pytest.mark.parametrize("verb", ["build", "vectors"])
def test_what_authors_run_uses_the_test_environment(tested: Path, verb: str) -> None:
    result = course(tested, verb, "--only", "move0")
    assert result.returncode == 0, result.stderr
    assert "ran ['--only', 'move0']" in result.stdout
    assert ".venv-test" in result.stdout


def test_doctor_takes_the_learners_environment_then_the_tests_then_the_running_python(
    bare: Path, tested: Path, installed: Path
) -> None:
    assert str(installed / ".venv") in course(installed, "doctor").stdout
    assert str(tested / ".venv-test") in course(tested, "doctor").stdout
    result = course(bare, "doctor")
    assert "ran []" in result.stdout
    assert str(bare) not in result.stdout
    assert not (bare / ".venv").exists()


def test_each_verb_is_one_line_of_help(bare: Path) -> None:
    lines = course(bare, "--help", COLUMNS="120").stdout.splitlines()
    for verb in ("lab", "test", "doctor", "build", "vectors", "bench", "kit", "record", "publish"):
        assert sum(line.split()[:1] == [verb] for line in lines) == 1


def test_what_instructors_run_uses_the_learners_environment(installed: Path) -> None:
    result = course(installed, "record", "navigation", "--usd", "0.5")
    assert "ran ['navigation', '--usd', '0.5']" in result.stdout
    assert str(installed / ".venv") in result.stdout
    assert not (installed / ".venv-test").exists()


def test_the_folder_of_a_kit_lies_where_it_was_asked_for(installed: Path) -> None:
    result = course(installed, "kit", "my kit")  # started from another folder than the project's
    assert f"ran {[str((installed.parent / 'my kit').resolve())]}" in result.stdout


def test_a_kit_needs_one_folder(bare: Path) -> None:
    for words in (["kit"], ["kit", "one", "two"]):
        assert course(bare, *words).returncode == 2
    assert not (bare / ".venv").exists()


def test_a_word_that_lab_does_not_know_is_refused(bare: Path) -> None:
    result = course(bare, "lab", "--prot", "8888")
    assert result.returncode == 2
    assert "--prot" in result.stderr
