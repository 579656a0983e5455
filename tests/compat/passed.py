"""Whether the tests here passed in full against Apache RocketMQ as they are now: ``python -m tests.compat.passed``.

Run against Apache RocketMQ they say whether the tests are right, not whether Gantry is: only a change of the tests can
change the outcome. So that half runs in full when the tests differ from those that passed last, or when APACHE=1, and
otherwise those marked ``sample`` do. The command runs all of them and, when they pass, records their digest.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.compat import java_build

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
RECORD: Final = HERE / "passed.sha256"
LEFT_OUT: Final = (
    "Of the tests against Apache RocketMQ's own servers a sample ran: tests/compat is as it was when all of them "
    "passed. APACHE=1 make test TESTS=tests/compat runs the rest."
)


def digest() -> str:
    """Return the SHA-256 of the tests' sources, as the record holds it."""
    hashed = hashlib.sha256()
    files = [file for end in ("*.py", "*.java", "*.xml") for file in HERE.rglob(end)]
    for file in sorted([*files, ROOT / "tests" / "support" / "apache.py"]):
        hashed.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes() + b"\n")
    return hashed.hexdigest()


def runs_in_full() -> bool:
    """Say whether all tests run against Apache RocketMQ, and not only the sample."""
    wanted = os.environ.get("APACHE", "")
    return wanted == "1" or (wanted != "0" and digest() != RECORD.read_text().strip())


def main() -> int:
    """Pass the tests in full and record that; fail without the tools, where all of them would be skipped."""
    if missing := java_build.missing_tool():
        print(f"the tests need a JDK with a compiler and Maven, and there is no {missing}")
        return 1
    passed = digest()
    done = subprocess.run([sys.executable, "-m", "tests", str(HERE)], env={**os.environ, "APACHE": "1"}, check=False)
    if done.returncode == 0:
        RECORD.write_text(f"{passed}\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
