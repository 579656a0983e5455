"""Requirements of the examples for Kubernetes: they parse, fit together, and name what the image has."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.support.compose import ROOT, services

FOLDER: Final = ROOT / "docs" / "kubernetes"
DOCKERFILE: Final = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: Final = services({"GANTRY_ADMIN_PASSWORD": "x", "POSTGRES_PASSWORD": "x"})
_ADDRESS: Final = re.compile(r"(gantry[\w-]*)-([0-9]+)\.(gantry[\w-]*):([0-9]+)")


def objects(kind: str) -> dict[str, Any]:
    """Return all objects of a kind by name."""
    found = [each for file in sorted(FOLDER.glob("*.yaml")) for each in yaml.safe_load_all(file.read_text("utf-8"))]
    return {each["metadata"]["name"]: each for each in found if each["kind"] == kind}


def pods() -> Iterator[tuple[str, Any]]:
    """Yield the specification of each stateful set's pods."""
    for name, each in objects("StatefulSet").items():
        yield name, each["spec"]["template"]["spec"]


def containers() -> dict[str, Any]:
    """Return all containers, those that run first included, by pod and name."""
    return {
        f"{pod} {each['name']}": each
        for pod, spec in pods()
        for each in [*spec.get("initContainers", []), *spec["containers"]]
    }


OURS: Final = {name: each for name, each in containers().items() if each["image"] == "gantry"}


def words(container: Any) -> list[str]:
    return [*container["command"], *container.get("args", [])]


def test_there_are_all_the_processes_of_compose_but_the_other_database() -> None:
    names = {name.partition(" ")[2] for name in containers()}
    usual = {name for name, service in COMPOSE.items() if not service.profiles}
    assert names == (usual - {"postgres"}) | {"namesrv"}
    assert {each["image"] for each in containers().values()} == {"gantry", "redis:7"}
    assert "image: redis:7\n" in (ROOT / "docker-compose.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in OURS if "-m" in words(OURS[name])])
def test_a_program_is_there_and_takes_its_options(name: str) -> None:
    given = words(OURS[name])
    module = given[given.index("-m") + 1]
    shown = subprocess.run(
        [sys.executable, "-m", module, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    options = [word for word in given if word.startswith("--")]
    assert options
    assert [option for option in options if option not in shown.stdout] == []


@pytest.mark.parametrize("name", [name for name in OURS if "-m" not in words(OURS[name])])
def test_another_program_is_the_one_of_compose(name: str) -> None:
    assert tuple(words(OURS[name])) == COMPOSE[name.partition(" ")[2]].command


def test_settings_are_those_that_the_code_reads_and_variables_are_there() -> None:
    text = "".join(
        file.read_text("utf-8") for package in ("gateway", "console") for file in (ROOT / package).rglob("*.py")
    )
    maps = objects("ConfigMap")
    for name, container in OURS.items():
        of_maps = {key for each in container.get("envFrom", []) for key in maps[each["configMapRef"]["name"]]["data"]}
        own = {each["name"] for each in container.get("env", [])}
        for setting in (of_maps | own) - {"POD_NAME", "POD_IP"}:
            assert f'"{setting}"' in text, setting
        assert set(re.findall(r"\$\((\w+)\)", " ".join(words(container)))) <= own, name


def test_a_set_has_its_service_and_finds_its_pods() -> None:
    offered = objects("Service")
    for name, each in objects("StatefulSet").items():
        spec, service = each["spec"], offered[each["spec"]["serviceName"]]["spec"]
        labels = spec["template"]["metadata"]["labels"]
        assert spec["selector"]["matchLabels"] == service["selector"] == labels
        ports = {port["name"]: port["containerPort"] for one in spec["template"]["spec"]["containers"]
                 for port in one.get("ports", [])}  # fmt: skip
        for port in service["ports"]:
            assert ports[port["name"]] == port["containerPort"] if "containerPort" in port else port["name"] in ports
        assert {port.get("targetPort", port["name"]) for port in service["ports"]} == ports.keys(), name
        # A client of a broker or name server chooses one itself.
        assert (service.get("clusterIP") == "None") == (name != "gantry")


def test_addresses_lead_to_pods_that_there_are() -> None:
    sets = objects("StatefulSet")
    found = [match for file in FOLDER.glob("*.yaml") for match in _ADDRESS.findall(file.read_text("utf-8"))]
    assert len(found) == 4
    for name, number, service, port in found:
        assert sets[name]["spec"]["serviceName"] == service
        assert int(number) < sets[name]["spec"]["replicas"]
        assert port in words(OURS[f"{name} namesrv"])


def test_probes_ask_at_ports_and_paths_that_are_served() -> None:
    for name, container in containers().items():
        ports = {port["name"] for port in container.get("ports", [])}
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            asked = container.get(probe, {})
            for kind in ("tcpSocket", "httpGet"):
                assert asked.get(kind, {}).get("port", next(iter(ports), None)) in ports | {None}, name
            assert asked.get("httpGet", {}).get("path", "/healthz") in ("/healthz", "/readyz")
        assert not ports or "readinessProbe" in container


def test_each_pod_has_the_user_and_the_folder_of_the_image_and_time_to_stop() -> None:
    for name, each in objects("StatefulSet").items():
        claims = {claim["metadata"]["name"] for claim in each["spec"]["volumeClaimTemplates"]}
        spec = each["spec"]["template"]["spec"]
        assert f"--uid {spec['securityContext']['runAsUser']} " in DOCKERFILE
        # Longer than a broker or a worker takes at the most (`gateway.up.processes.STOP_SECONDS`).
        assert spec["terminationGracePeriodSeconds"] >= (15 if name == "gantry-namesrv" else 30)
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            for mount in container["volumeMounts"]:
                assert mount["name"] in claims
                assert f"GANTRY_DATA_DIR={mount['mountPath']}" in DOCKERFILE
