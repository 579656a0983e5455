"""What a program is told of the brokers whose files are on its machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from console.audit.record import Actor
from console.clusters.services import ensure_embedded
from console.jobs import services
from console.jobs.requests import program_request

pytestmark = pytest.mark.django_db


def place_of(settings: Settings, data: Path) -> dict[str, Any]:
    settings.GANTRY_DATA_DIR = data
    ensure_embedded()
    request = {"type": "reconcile", "cluster": "local", "check": "store"}
    found: dict[str, Any] = program_request(services.create(Actor("ann"), request))["source"]
    return found


def test_of_several_brokers_all_folders_that_are_there_are_told(settings: Settings, tmp_path: Path) -> None:
    settings.GANTRY_BROKERS = 3
    for name in ("broker", "broker-b", "broker-d"):  # broker-c never ran, broker-d is left out
        (tmp_path / name).mkdir()

    place = place_of(settings, tmp_path)

    assert (place["broker"], place["store"]) == ("broker-a", str(tmp_path / "broker"))
    assert place["more_stores"] == {"broker-b": str(tmp_path / "broker-b")}


def test_of_replicas_all_is_read_over_the_wire(settings: Settings, tmp_path: Path) -> None:
    settings.GANTRY_REPLICAS = 3
    (tmp_path / "broker").mkdir()  # of a broker that was left out

    place = place_of(settings, tmp_path)

    assert (place["broker"], place["store"], place["more_stores"]) == ("broker-a", None, {})


def test_without_a_folder_of_a_broker_all_is_read_over_the_wire(settings: Settings, tmp_path: Path) -> None:
    place = place_of(settings, tmp_path)

    assert (place["store"], place["more_stores"]) == (None, {})
    assert place["name_servers"] == settings.GANTRY_NAME_SERVERS
