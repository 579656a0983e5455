"""Settings of a controller: what is served, and what is refused with which sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.controller.config import ControllerConfig, ControllerRefused
from broker_core.errors import GantryError

ON = {"enableControllerInNamesrv": "true"}


def test_there_is_no_controller_unless_it_is_asked_for() -> None:
    assert ControllerConfig.of({}) is None
    assert ControllerConfig.of({"enableControllerInNamesrv": "false"}) is None


def test_defaults() -> None:
    assert ControllerConfig.of(ON) == ControllerConfig(Path("~/gantry-controller").expanduser(), "DefaultCluster", 3.0)
    usual = {"controllerClusterName": "local", "controllerStorePath": "/data/controller"}
    assert ControllerConfig.of(ON, usual) == ControllerConfig(Path("/data/controller"), "local")


def test_what_is_given_counts() -> None:
    given = {
        "controllerClusterName": "C",
        "controllerStorePath": "/c",
        "controllerHeartBeatTimeoutMills": "5000",
        "controllerEtcdEndpoints": "http://127.0.0.1:2379",
    }
    config = ControllerConfig.of(ON | given, {"controllerClusterName": "local"})
    assert config is not None
    assert (config.folder, config.cluster, config.timeout_seconds) == (Path("/c"), "C", 5.0)
    assert config.etcd is not None
    assert config.etcd.folder == "/gantry/C/"


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (
            {"controllerDLegerPeers": "n0-127.0.0.1:9877"},
            "DLegerPeers is not served.*controllerEtcdEndpoints",
        ),
        ({"controllerDLegerSelfId": "n0"}, "controllerEtcdEndpoints"),
        ({"controllerType": "jRaft"}, "controllerEtcdEndpoints"),
        ({"enableElectUncleanMaster": "true"}, "for one broker name and one time"),
        ({"enableControllerInNamesrv": "yes"}, "not true or false"),
        ({"controllerHeartBeatTimeoutMills": "999"}, "from 1000 to 600000 ms"),
        ({"controllerHeartBeatTimeoutMills": "3s"}, "from 1000 to 600000 ms"),
        ({"controllerClusterName": " "}, "controllerClusterName is empty"),
        ({"controllerEtcdEndpoints": "etcd:2379"}, "is not like https"),
    ],
)
def test_what_cannot_be_used_is_refused(texts: dict[str, str], sentence: str) -> None:
    for given in (texts, ON | texts):
        with pytest.raises(GantryError, match=sentence):
            ControllerConfig.of(given)


def test_a_refusal_is_one_sentence() -> None:
    with pytest.raises(ControllerRefused) as refused:
        ControllerConfig.of({"enableElectUncleanMaster": "true"})
    assert "\n" not in str(refused.value)
