"""Requirements of names in paths: a broker may have any name that a name server takes, and is forgotten by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Final
from urllib.parse import quote

import pytest

from tests.gateway.control.conftest import Control
from tests.gateway.installation import ROOT, Installation

NAMES: Final = ["a/b", "a%2Fb", "x/config", "/", "two\nlines", "<b>bold</b>", "a?b#c", "Ünï/ä"]
_REMEMBER: Final = """
import json, os
from datetime import UTC, datetime
from console.clusters.memory import Sighting, remember
seen = [Sighting(name, {0: "127.0.0.1:1"}, {}, {}) for name in json.loads(os.environ["NAMES"])]
remember("local", seen, datetime(2026, 5, 1, 8, tzinfo=UTC))
"""

pytestmark = pytest.mark.gantry_only("nobody asks a broker")


@pytest.fixture(scope="module")
def remembered(control: Control, installation: Installation) -> None:
    """Brokers that were listed once and answer no more."""
    environment: dict[str, Any] = {**os.environ, "GANTRY_DATA_DIR": str(installation.data), "NAMES": json.dumps(NAMES)}
    subprocess.run([sys.executable, ROOT / "manage.py", "shell", "-c", _REMEMBER], env=environment, check=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_broker_is_forgotten_by_its_name_percent_encoded(control: Control, remembered: None, name: str) -> None:
    path = f"/brokers/{quote(name, safe='')}"

    assert control.get(f"{path}/replicas")["broker"] == name
    config = control.call("GET", f"{path}/config", role="admin")
    assert (config.status_code, config.json()["code"]) == (503, "BROKER_UNREACHABLE"), config.text
    answer = control.call("DELETE", path, role="operator")
    assert answer.status_code == 204, answer.text
    again = control.call("DELETE", path, role="operator")
    assert (again.status_code, again.json()["detail"]) == (
        404,
        f"No broker named {name!r} is remembered in cluster 'local'.",
    )


def test_a_slash_between_parts_of_a_path_is_none_of_a_name(control: Control) -> None:
    answer = control.call("DELETE", "/brokers/a/b", role="operator")
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "There is nothing at '/api/v1/clusters/local/brokers/a/b'.",
    )
    # Nor is an encoded one a part of the path
    answer = control.call("GET", "%2Foverview", role="operator")
    assert "There is nothing at" not in answer.text
    assert answer.status_code == 404
