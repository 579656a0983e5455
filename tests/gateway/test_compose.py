"""Requirements of ``docker-compose.yml`` and the Dockerfile: what they name exists and is what the code expects."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
import yaml

from broker_core.broker import BrokerConfig
from broker_core.broker.settings import Settings
from broker_core.controller.config import ControllerConfig
from broker_core.store import StoreConfig
from gateway.up.config import UpConfig
from gateway.up.processes import plan
from tests.support.compose import FILE, ROOT, NotSet, Service, services

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


@pytest.mark.parametrize("name", ["broker", "gateway", "namesrv-1", "replica-1"])
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


REPLICAS: Final = {
    "GANTRY_REPLICAS": "3",
    "GANTRY_NAME_SERVERS": "namesrv-1:9876,namesrv-2:9876,namesrv-3:9876",
}


def settings_of(service: Service) -> dict[str, str]:
    """Return what a service is told by ``--setting``."""
    words = service.command
    told = [after for word, after in pairwise(words) if word == "--setting"]
    return {name: value for name, _, value in (each.partition("=") for each in told)}


def test_the_profile_has_three_replicas_that_find_their_controllers_and_these_etcd(tmp_path: Path) -> None:
    compose = services(VARIABLES | REPLICAS)
    profile = {name for name, each in compose.items() if each.profiles == ("replicas",)}
    assert profile == {f"{kind}-{number}" for kind in ("etcd", "namesrv", "replica") for number in (1, 2, 3)}
    assert not any(compose[name].profiles for name in compose.keys() - profile)
    servers = REPLICAS["GANTRY_NAME_SERVERS"]
    assert all(f"{name}={value}" in FILE.read_text("utf-8") for name, value in REPLICAS.items())
    assert compose["gateway"].environment["GANTRY_NAME_SERVERS"] == servers
    for number in (1, 2, 3):
        names = f"namesrv-{number}", f"replica-{number}"
        controller = ControllerConfig.of(settings_of(compose[names[0]]))
        assert controller is not None
        assert (controller.cluster, str(controller.folder)) == ("local", f"/data/{names[0]}/controller")
        assert controller.etcd is not None
        assert [f"http://etcd-{each}:2379" for each in (1, 2, 3)] == list(controller.etcd.endpoints)
        told = settings_of(compose[names[1]])
        replica = Settings.of(BrokerConfig(StoreConfig(tmp_path), settings=told)).config.failover
        assert (replica.is_on, replica.min_in_sync) == (True, 2)
        assert ",".join(replica.controllers) == servers
        words = compose[names[1]].command
        assert words[words.index("--namesrv") + 1].replace(";", ",") == servers
        assert words[words.index("--advertise") + 1] == names[1]
        assert words[words.index("--store") + 1] == f"/data/{names[1]}"


def test_members_of_etcd_know_each_other() -> None:
    compose = services(VARIABLES)
    for number in (1, 2, 3):
        _, *words = compose[f"etcd-{number}"].command
        told = dict(zip(words[::2], words[1::2], strict=True))
        assert told["--initial-cluster"] == ",".join(f"etcd-{each}=http://etcd-{each}:2380" for each in (1, 2, 3))
        assert f"{told['--name']}={told['--initial-advertise-peer-urls']}" in told["--initial-cluster"].split(",")
        assert told["--advertise-client-urls"] == f"http://etcd-{number}:2379"
        assert told["--data-dir"] == f"/etcd/{number}", "they share a volume"


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
