"""Compiles the twins: ``python -m broker_core.native.build``; does nothing when the sources have not changed.

Without a compiler or Python's headers it says so and ends without an error: everything then runs in Python.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from broker_core.native.sources import SOURCES, sources_digest

FOLDER: Final = Path(__file__).parent
FLAGS: Final = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fno-strict-aliasing")


class CannotCompile(Exception):
    """There is no compiler, no Python header, or the compiler refused."""


def library_path(folder: Path = FOLDER) -> Path:
    """Return where the compiled file is; its name says for which Python it is."""
    return folder / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"


def find_tools() -> tuple[str, Path]:
    """Return the compiler and the folder of Python's headers; raise CannotCompile for what this machine lacks."""
    compiler = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")
    include = Path(sysconfig.get_paths()["include"])
    if compiler is None:
        raise CannotCompile("there is no C compiler")
    if not (include / "Python.h").exists():
        raise CannotCompile(f"there is no Python.h in {include}")
    return compiler, include


def compile_to(path: Path, *, flags: Sequence[str] = ()) -> None:
    """Compile the sources to `path`, which appears when it is whole; raise CannotCompile."""
    compiler, include = find_tools()
    new = path.with_suffix(f".{os.getpid()}.new")
    shared = ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
    command = [compiler, *FLAGS, *flags, *shared, "-fPIC", f"-I{include}", f'-DSOURCES="{sources_digest()}"']
    command += [*map(str, sorted(SOURCES.glob("*.c"))), "-o", str(new)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own sources
        if done.returncode:
            raise CannotCompile(done.stderr.strip())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def is_fresh(path: Path) -> bool:
    """Say whether `path` was made of the sources as they are."""
    return path.exists() and sources_digest().encode() in path.read_bytes()


def main() -> None:
    """Compile what is not fresh; say what cannot be had."""
    argparse.ArgumentParser(description="Compile the functions that have twins in C.").parse_args()
    path = library_path()
    if is_fresh(path):
        return
    try:
        compile_to(path)
    except CannotCompile as reason:
        sys.stderr.write(f"Continuing without the compiled functions, more slowly: {reason}\n")


if __name__ == "__main__":
    main()
