"""The compiled functions are built where possible, never used when stale, and never required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.native import build, sources

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tools() -> None:
    """Skip tests that need a compiler or Python's headers if the machine has none."""
    try:
        build.find_tools()
    except build.CannotCompile as lacking:
        pytest.skip(str(lacking))


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the project's folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"GANTRY_NATIVE": "on"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=290,
    )


@pytest.mark.usefixtures("tools")
def test_the_sources_compile_without_a_warning_to_what_knows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "compiled.so"
    assert not build.is_fresh(path)
    build.compile_to(path, flags=("-Werror", "-Wconversion", "-Wno-sign-conversion"))
    assert build.is_fresh(path)
    assert [each.name for each in tmp_path.iterdir()] == ["compiled.so"]

    monkeypatch.setattr(build, "sources_digest", lambda: "0" * 16)
    assert not build.is_fresh(path)


@pytest.mark.usefixtures("tools")
def test_a_refusing_compiler_is_quoted_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(build.CannotCompile, match="no-such-flag"):
        build.compile_to(tmp_path / "compiled.so", flags=("-fno-such-flag",))
    assert list(tmp_path.iterdir()) == []


def test_a_machine_without_a_compiler_gets_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(build.CannotCompile, match="no C compiler"):
        build.compile_to(tmp_path / "compiled.so")


def test_they_can_be_turned_off() -> None:
    result = run("-c", "from broker_core.native import native, why_not; print(native, why_not)", GANTRY_NATIVE="off")
    assert result.stdout.strip() == "None GANTRY_NATIVE says so"


@pytest.mark.usefixtures("tools")
def test_stale_ones_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "from broker_core.native import sources\n"
        "sources.sources_digest = lambda: 'other'\n"
        "import importlib, broker_core.native as package\n"
        "importlib.reload(package)\n"
        "print(package.native, package.why_not)\n"
    )
    assert run("-c", program).stdout.startswith("None they were built from other sources")


def test_the_digest_changes_with_any_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SOURCES", tmp_path)
    (tmp_path / "a.c").write_text("one")
    first = sources.sources_digest()
    (tmp_path / "a.c").write_text("two")
    second = sources.sources_digest()
    (tmp_path / "a.c").rename(tmp_path / "b.c")
    assert len({first, second, sources.sources_digest()}) == 3


SANITIZED = """
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
name = "broker_core.native._native"
loader = ExtensionFileLoader(name, sys.argv[1])
sys.modules[name] = module_from_spec(spec_from_file_location(name, sys.argv[1], loader=loader))
import pytest
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


@pytest.mark.usefixtures("tools")
def test_they_touch_no_memory_but_their_own(tmp_path: Path) -> None:
    """The twins' tests pass under the address and undefined-behaviour sanitizers."""
    path = tmp_path / "sanitized.so"
    build.compile_to(path, flags=("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"))
    preload = [
        subprocess.run(["gcc", f"-print-file-name={each}"], capture_output=True, text=True, check=True).stdout.strip()
        for each in ("libasan.so", "libubsan.so", "libstdc++.so.6")
    ]
    done = run(
        "-c",
        SANITIZED,
        str(path),
        # That test counts bytes over thousands of calls, after the first of which the sanitizers see nothing new.
        "--deselect=tests/broker_core/native/test_memory.py::test_nothing_is_kept_of_what_was_made",
        *[
            f"tests/broker_core/native/test_{each}.py"
            for each in ("wire", "store", "syncer", "memory", "walk", "predicate")
        ],
        "tests/broker_core/spark/test_batches.py",
        "tests/broker_core/spark/test_text.py",
        "tests/broker_core/store/test_columns.py",
        LD_PRELOAD=":".join(preload),
        HYPOTHESIS_PROFILE="few",  # the plain run has the rest
        ASAN_OPTIONS="detect_leaks=0",  # Python itself keeps memory to its end
        PYTHONMALLOC="malloc",  # so that the sanitizer sees each object
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
