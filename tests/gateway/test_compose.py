"""Requirements of ``docker-compose.yml`` and the Dockerfile: what they name exists and is what the code expects."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from gateway.up.config import UpConfig
from gateway.up.processes import plan
from tests.support.compose import FILE, ROOT, NotSet, services

VARIABLES: Final = {"GANTRY_ADMIN_PASSWORD": "correct horse battery", "POSTGRES_PASSWORD": "staple"}
_SETTING: Final = re.compile(r"\bGANTRY_[A-Z_]+\b")
_PACKAGES: Final = ("gateway", "console", "broker_core")


def test_the_passwords_must_be_chosen() -> None:
    for missing in VARIABLES:
        with pytest.raises(NotSet, match=missing):
            services({name: value for name, value in VARIABLES.items() if name != missing})


def test_every_process_of_make_up_is_a_service_with_the_same_program(tmp_path: Path) -> None:
    compose = services(VARIABLES)
    planned = plan(UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path), "GANTRY_WORKERS": "1"}), tmp_path).children
    assert {child.name for child in planned} <= compose.keys()
    for child in planned:
        if not compose[child.name].is_built:
            continue
        here = compose[child.name].command
        words = child.command[1:]
        # `celery` stands for `python -m celery`.
        module = words[1] if words[0] == "-m" else words[0]
        assert module in here, (child.name, here)
        if module == "celery":
            assert {word for word in words if word.startswith("gateway.")} <= set(here)
            assert words[words.index("gateway.celery") + 1] in here


def test_every_setting_is_one_that_the_code_reads() -> None:
    read = {
        name
        for package in _PACKAGES
        for file in (ROOT / package).rglob("*.py")
        for name in _SETTING.findall(file.read_text(encoding="utf-8"))
    }
    text = FILE.read_text(encoding="utf-8")
    # These two are for the file itself: where ports are published, and the address that the broker announces.
    assert set(_SETTING.findall(text)) - read == {"GANTRY_PUBLISH", "GANTRY_ADVERTISE"}
    for service in services(VARIABLES).values():
        if service.is_built:
            assert service.environment.keys() <= read, service.name


@pytest.mark.parametrize("name", ["broker", "gateway"])
def test_a_service_takes_its_options(name: str) -> None:
    words = services(VARIABLES)[name].command
    module = words[words.index("-m") + 1]
    shown = subprocess.run(
        [sys.executable, "-m", module, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for option in (word for word in words if word.startswith("--")):
        assert option in shown.stdout, option


def test_the_ports_and_names_that_services_reach_each_other_by_are_theirs() -> None:
    compose = services(VARIABLES)
    environment = compose["gateway"].environment
    assert environment["GANTRY_NAME_SERVERS"] == "broker:9876"
    assert [port.rpartition(":")[2] for port in compose["broker"].ports] == ["9876", "10911"]
    broker = (ROOT / "broker_core/command_line.py").read_text(encoding="utf-8")
    assert "9876" in broker
    assert "10911" in broker
    command = compose["gateway"].command
    assert command[command.index("--port") + 1] == compose["gateway"].ports[0].rpartition(":")[2]
    for name, port in (("redis", "6379"), ("postgres", "5432")):
        assert name in compose
        assert any(f"{name}:{port}/" in value for value in environment.values()), name
    assert environment["GANTRY_DATABASE_URL"].startswith("postgres://gantry:staple@")
    assert compose["postgres"].environment["POSTGRES_PASSWORD"] == "staple"
    for service in compose.values():
        assert service.depends_on <= compose.keys()


def test_volumes_are_declared_and_the_data_folder_is_the_image_s() -> None:
    declared = yaml.safe_load(FILE.read_text(encoding="utf-8"))["volumes"].keys()
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for service in services(VARIABLES).values():
        for volume in service.volumes:
            name, _, place = volume.partition(":")
            assert name in declared
            assert not service.is_built or f"GANTRY_DATA_DIR={place}" in dockerfile


def test_the_image_copies_what_is_there_and_runs_modules_that_are_there() -> None:
    for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines():
        if line.startswith("COPY"):
            *sources, _target = line.split()[1:]
            for source in sources:
                assert (ROOT / source).exists(), line
        for module in re.findall(r"python -m (\S+)", line):
            place = ROOT / module.replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), line
        for file in re.findall(r"-r (\S+)", line):
            assert (ROOT / file).exists(), line
