"""The commands of docs/http-api.md work when pasted."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gateway import problems
from tests.gateway.installation import Installation
from tests.gateway.test_composition import BEATS, beat

PAGE = Path(__file__).resolve().parents[2] / "docs/http-api.md"

# Each call must succeed, and the shell stops at the first one that does not.
_STRICT = 'set -euo pipefail\ncurl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n'


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page is about curl")
def test_every_shell_line_of_the_page_succeeds(installation: Installation, redis_url: str, tmp_path: Path) -> None:
    beat(redis_url, *BEATS)
    token = tmp_path / "data" / "quickstart.token"
    token.parent.mkdir()
    token.write_text(installation.tokens["admin"])
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 7
    script = _STRICT + "".join(blocks).replace("http://127.0.0.1:8000", installation.url)
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_code_that_the_page_names_is_one_of_ours() -> None:
    ours = {value.code for value in vars(problems).values() if isinstance(value, problems.Kind)}
    table = (
        PAGE.read_text(encoding="utf-8").partition("| status | codes of the data plane |")[2].partition("## Limits")[0]
    )
    named = set(re.findall(r"`((?!GANTRY_)[A-Z_]{5,})`", table))
    assert named <= ours
    assert len(named) > 25
