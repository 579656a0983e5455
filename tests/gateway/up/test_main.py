"""Requirements of `gateway.up.__main__`: what must be fixed before the start is said, and nothing starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("GANTRY_ACL_ACCOUNT", "missing.yml", "expected a file that is there"),
        ("GANTRY_ACL_ACCOUNT", "short.yml", "expected a file with accessKey and secretKey, of at least 7 characters"),
        ("GANTRY_JOBS_KEEP_DAYS", "a week", "expected a whole number"),
        ("GANTRY_SMTP_TLS", "ssl", "expected one of none, starttls, tls"),
        ("GANTRY_FLUSH", "never", "expected one of async, sync"),
    ],
)
def test_a_wrong_setting_is_one_line_and_nothing_starts(tmp_path: Path, name: str, value: str, expected: str) -> None:
    (tmp_path / "short.yml").write_text("accessKey: the-gateway\nsecretKey: tiny\n")
    value = str(tmp_path / value) if value.endswith(".yml") else value
    environment = {**os.environ, "GANTRY_DATA_DIR": str(tmp_path / "data"), name: value}

    ended = subprocess.run(
        [sys.executable, "-m", "gateway.up"], env=environment, capture_output=True, text=True, check=False, timeout=60
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"gantry: {name}={value!r}: {expected}")
    assert not (tmp_path / "data" / "broker").exists()
