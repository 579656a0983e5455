"""Log lines begin with their subject."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.logs import QUIET_S, Repeated, get_logger

ROOT = Path(__file__).resolve().parents[2]


def test_a_subject_is_not_a_format(caplog: pytest.LogCaptureFixture) -> None:
    log = get_logger("a.module", "topic=%RETRY%billing")

    log.warning("not pulled: %s", "100 % busy")
    log.warning("100 % busy")

    assert caplog.messages == ["topic=%RETRY%billing: not pulled: 100 % busy", "topic=%RETRY%billing: 100 % busy"]


def test_without_a_subject_the_line_stands_alone(caplog: pytest.LogCaptureFixture) -> None:
    get_logger("a.module").warning("%d left", 3)

    assert caplog.messages == ["3 left"]


def test_what_is_tried_again_and_again_is_told_once_for_each_cause_and_while(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    repeated = Repeated(get_logger("a.module"), clock=lambda: now)
    for second in range(int(QUIET_S) + 1):
        now = float(second)
        for group in ("a", "b"):
            repeated.warning("disk full", "group=%s: waits: %s", group, "disk full")
    repeated.warning("no set", "group=%s: waits: %s", "a", "no set")

    assert caplog.messages == [
        "group=a: waits: disk full",
        f"group=a: waits: disk full ({2 * int(QUIET_S) - 1} times more since the last line)",
        "group=a: waits: no set",
    ]


FORGED = "q\n2026-11-30 01:00:00,000 ERROR forged\x1b[2J\u2028\u202e\udc2f"
ESCAPED = r"q\n2026-11-30 01:00:00,000 ERROR forged\x1b[2J\u2028\u202e\udc2f"
WRITE = f"""
import logging
log = logging.getLogger("a.module")
log.warning("broker=%s: silent", {FORGED!r})
try:
    raise ValueError({FORGED!r})
except ValueError:
    log.exception("failed")
log.error("x" * 100_000)
"""


@pytest.mark.parametrize(
    "begin",
    [
        "from broker_core import logs; logs.configure()",
        "import gateway.asgi",
        "from gateway.celery import app; app.log.setup(loglevel='WARNING')",
        "import django; django.setup()",
    ],
    ids=["broker and name server", "gateway", "worker and beat", "sampler and commands"],
)
def test_no_name_begins_a_line_of_the_log(begin: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "GANTRY_DATA_DIR": str(tmp_path),
        "GANTRY_REDIS_URL": "redis://127.0.0.1:1/7",
        "DJANGO_SETTINGS_MODULE": "gateway.settings",
    }
    written = subprocess.run(
        [sys.executable, "-c", begin + WRITE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stderr
    records = [line for line in written.splitlines() if not line.startswith("  ")]
    assert [line[24:] for line in records[:2]] == [
        f"WARNING a.module broker={ESCAPED}: silent",
        "ERROR a.module failed",
    ]
    assert len(records) == 3
    assert len(records[2]) < 5_000
    assert records[2].endswith("x… (100039 characters)")
    assert f"ValueError: {ESCAPED.partition(chr(92))[0]}" in written
    # The line of a traceback that a message began is one, too
    assert "\n  2026-11-30 01:00:00,000 ERROR forged" in written
