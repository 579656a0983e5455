"""The build backend of `pip install`: setuptools, which compiles the native module as `build.py` does.

pip loads this file by itself, as pyproject.toml says; setuptools then loads it once more as part of the tree, for the
command.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension
from setuptools.build_meta import build_sdist, build_wheel, prepare_metadata_for_build_wheel
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from broker_core.native.build import CannotCompile, compile_to

__all__ = ["CompileNative", "build_sdist", "build_wheel", "prepare_metadata_for_build_wheel"]


class CompileNative(build_ext):  # type: ignore[misc]
    """Compiles the module into the wheel; without a compiler the wheel has none, and everything runs in Python."""

    def build_extension(self, ext: Extension) -> None:
        """Compile the one extension of the project, with the digest of its sources."""
        path = Path(self.get_ext_fullpath(ext.name))
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            compile_to(path)
        except CannotCompile as reason:
            sys.stderr.write(f"Continuing without the compiled functions, more slowly: {reason}\n")
