"""The core passes its tests a second time in Python alone: with ``GANTRY_NATIVE=off`` nothing compiled is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Each compiled function is called by one of these; the rest of the core only calls them indirectly.
PLACES = (
    "protocol", "store", "remoting", "namesrv", "broker/processors", "broker/test_sent_text.py", "broker/test_disk.py",
    "broker/test_durability.py", "broker/test_intake.py",
)  # fmt: skip
# They open stores hundreds of times, and the other tests of the store call the same functions.
LEFT_OUT = ("store/test_torn_tail.py", "store/test_damage.py", "store/test_closed.py")


def test_everything_goes_without_what_is_compiled() -> None:
    ignored = [f"--ignore=tests/broker_core/{file}" for file in LEFT_OUT]
    places = [f"tests/broker_core/{place}" for place in PLACES]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", *ignored, *places],
        cwd=ROOT, env={**plain, "GANTRY_NATIVE": "off", "HYPOTHESIS_PROFILE": "few"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
