"""What the Java tests run: our programs with the unmodified client, and RocketMQ's servers; fetched once by Maven."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_CACHE = Path(__file__).parents[2] / ".cache" / "compat"
# RocketMQ 4 was made for Java 8 and unmaps its files by means that later ones hide.
_OPENED = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "sun.nio.ch", "jdk.internal.ref")
)


@dataclass(frozen=True)
class JavaProject:
    """A folder with a pom, and the folder into which Maven puts classes and libraries."""

    sources: Path
    target: Path
    programs: Path | None = None
    """Where the programs are, if not beside the pom."""

    def build(self) -> None:
        """Compile and fetch, unless the sources are older than the last build; one process at a time."""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        # One lock for all projects: Maven's repository is no place for two at once either.
        with (self.target.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._build()

    def _build(self) -> None:
        done = self.target / "done"
        files = [self.sources / "pom.xml", *(self.programs or self.sources).glob("src/**/*.java")]
        if done.exists() and all(file.stat().st_mtime < done.stat().st_mtime for file in files):
            return
        subprocess.run(["mvn", "-q", "-B", "package"], cwd=self.sources, check=True, timeout=600)
        done.touch()

    def java(self, main: str, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
        """Return the command that runs the class `main` with `arguments`."""
        class_path = f"{self.target / 'classes'}:{self.target / 'lib'}/*"
        return ["java", "-Xshare:auto", *_OPENED, *options, "-cp", class_path, main, *arguments]


CLIENT = JavaProject(_HERE / "java", _CACHE / "client")
"""Our programs with RocketMQ's client, tools and store 4.9.8."""
CLIENT5 = JavaProject(_HERE / "java5", _CACHE / "client5", _HERE / "java")
"""The same programs with RocketMQ's client and tools 5.3.3."""
SERVER = JavaProject(_HERE / "server", _CACHE / "server")
"""RocketMQ's name server and broker 4.9.7."""


def missing_tool() -> str | None:
    """Return the first of javac, java and mvn that this machine lacks, or None."""
    return next((tool for tool in ("javac", "java", "mvn") if shutil.which(tool) is None), None)
