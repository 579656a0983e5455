"""The README's five-minute tour and its second broker work as pasted, in both languages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.gantry import ROOT, Gantry, Place
from tests.support.ports import free_ports
from tests.support.wait import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.spark]

TOURS = {"README.md": "## Five minutes", "README.zh-CN.md": "## 五分钟上手"}
# Each call must succeed, and the shell stops at the first failure.
STRICT = 'set -euo pipefail\ncurl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n'


def lines_of(page: str) -> str:
    """Return all shell lines of the page's tour."""
    text = (ROOT / page).read_text(encoding="utf-8")
    tour = text.partition(f"\n{TOURS[page]}\n")[2].partition("\n## ")[0]
    return "".join(re.findall(r"^```sh\n(.*?)^```", tour, re.MULTILINE | re.DOTALL))


def paste(gantry: Gantry, lines: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the lines where a reader would: in the project's folder, which has `data`."""
    for name in ("manage.py", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "data").symlink_to(gantry.data)
    script = STRICT + lines.replace("http://127.0.0.1:8000", gantry.url)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GANTRY_")}
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=plain, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def gantry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gantry]:
    """What `make up` starts, for the tour and then for the second broker."""
    with Place.free(tmp_path_factory.mktemp("gantry") / "data").started() as running:
        yield running


@pytest.mark.skipif(shutil.which("curl") is None, reason="the tour is made of curl lines")
def test_the_five_minutes_work_as_pasted(gantry: Gantry, tmp_path: Path) -> None:
    done = paste(gantry, lines_of("README.md"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for seen in ('"A17"', '"acked"', '"match"', '"orders-copy"'):
        assert seen in done.stdout + done.stderr
    assert re.findall(r'"state": ?"(\w+)"', done.stdout) == ["succeeded", "succeeded"]


def second_broker(page: str) -> str:
    """Return the page's line that starts another broker."""
    [line] = re.findall(r"^  (\S*python -m broker_core .*)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    return str(line)


def test_a_second_broker_joins_as_pasted(gantry: Gantry, tmp_path: Path) -> None:
    def brokers() -> set[str]:
        with gantry.client() as client:
            return {each["name"] for each in client.get("/clusters/local/overview").json()["brokers"]}

    line = second_broker("README.md").replace("127.0.0.1:9876", gantry.name_server)
    line = line.replace("--broker-port 10991", f"--broker-port {free_ports(4) + 2}")
    line = line.replace("data-x", str(tmp_path / "data-x"))
    second = subprocess.Popen(line.split(), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: brokers() == {"broker-a", "broker-x"})
    finally:
        second.terminate()
        assert second.wait(20) == 0


def test_both_languages_have_the_same_lines() -> None:
    def without_comments(page: str) -> str:
        return re.sub(r"\s+#.*", "", lines_of(page))

    assert without_comments("README.md") == without_comments("README.zh-CN.md")
    assert second_broker("README.md") == second_broker("README.zh-CN.md")
