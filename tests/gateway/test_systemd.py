"""Requirements of the units for systemd: systemd takes them, and what they start takes their files and options."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from broker_core.broker.settings.file import read_config
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.config_file import read_config as read_namesrv_config
from tests.support.compose import ROOT

FOLDER: Final = ROOT / "docs" / "systemd"
UNITS: Final = sorted(path.name for path in FOLDER.glob("*.service"))


def unit(name: str) -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None, strict=True)
    found.optionxform = str  # type: ignore[assignment,method-assign]  # names are told apart by their letters' case
    found.read_string((FOLDER / name).read_text(encoding="utf-8"))
    return found


def test_there_is_one_for_the_name_server_and_one_for_brokers() -> None:
    assert UNITS == ["gantry-broker@.service", "gantry-namesrv.service"]


@pytest.mark.parametrize("name", UNITS)
def test_systemd_takes_it(name: str, tmp_path: Path) -> None:
    parsed = unit(name)
    assert {"Unit", "Service", "Install"} == set(parsed.sections())
    if (verify := shutil.which("systemd-analyze")) is None:
        return
    text = (FOLDER / name).read_text(encoding="utf-8").replace("/opt/gantry/.venv/bin/python", sys.executable)
    (tmp_path / name).write_text(text)
    said = subprocess.run([verify, "verify", str(tmp_path / name)], capture_output=True, text=True, check=False)
    assert [line for line in said.stderr.splitlines() if name.partition("@")[0] in line] == []


@pytest.mark.parametrize("name", UNITS)
def test_its_program_takes_its_options_and_may_end_in_peace(name: str) -> None:
    service = unit(name)["Service"]
    words = service["ExecStart"].split()
    module = words[words.index("-m") + 1]
    shown = subprocess.run(
        [sys.executable, "-m", module, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [word for word in words if word.startswith("--") and word not in shown.stdout] == []
    assert int(service["TimeoutStopSec"]) >= (10 if "namesrv" in name else 30)
    assert int(service["LimitNOFILE"]) >= 65_536
    assert service["RestartPreventExitStatus"] == "2"
    # What it writes is below its folder, and all else is read-only to it.
    assert service["ProtectSystem"] == "strict"
    folders = [f"/var/lib/{each}" for each in service["StateDirectory"].replace("%i", "a").split()]
    written = re.findall(r"/var/lib/\S+", service["ExecStart"].replace("%i", "a"))
    conf = FOLDER / Path(words[words.index("--config") + 1].replace("%i", "a")).name
    written += re.findall(r"/var/lib/\S+", conf.read_text(encoding="utf-8"))
    assert written
    assert all(any(each.startswith(folder) for folder in folders) for each in written)


def test_the_example_files_are_taken() -> None:
    broker = read_config(FOLDER / "broker-a.conf")
    assert broker.name == "broker-a"
    assert broker.without_effect == ()
    assert NameServerConfig(**read_namesrv_config(FOLDER / "namesrv.conf").fields).port == 9876
