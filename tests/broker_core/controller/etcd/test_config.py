"""The settings of etcd."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.controller.etcd.config import EtcdConfig, EtcdRefused

ENDPOINTS = "controllerEtcdEndpoints"


def config_of(endpoints: str = "http://h1:2379", **texts: str) -> EtcdConfig:
    return EtcdConfig.of({ENDPOINTS: endpoints} | texts, "C")


def test_what_is_not_given_has_its_default() -> None:
    config = config_of("https://h1:2379; https://h2:2379/;")
    assert config.endpoints == ("https://h1:2379", "https://h2:2379")
    assert (config.folder, config.attempt_seconds, config.leader_ttl) == ("/gantry/C/", 0.7, 4)


def test_the_password_is_read_from_its_file_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("secret of etcd\n")
    config = config_of(controllerEtcdUser="gantry", controllerEtcdPasswordFile=str(file))
    assert config.password == "secret of etcd"
    assert "secret" not in repr(config)


@pytest.mark.parametrize(
    ("endpoint", "is_open"),
    [
        ("http://127.0.0.1:2379", False),
        ("http://[::1]:2379", False),
        ("http://localhost:2379", False),
        ("https://10.0.0.1:2379", False),
        ("http://10.0.0.1:2379", True),
        ("http://etcd1:2379", True),
    ],
)
def test_plain_http_beyond_this_machine_is_seen(endpoint: str, is_open: bool) -> None:
    assert config_of(endpoint).is_open_beyond_this_machine is is_open


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({ENDPOINTS: " ; "}, "names no member"),
        ({ENDPOINTS: "h1:2379"}, "'h1:2379' is not like https://"),
        ({ENDPOINTS: "ftp://h1:2379"}, "is not like"),
        ({ENDPOINTS: "http://h1"}, "is not like"),
        ({ENDPOINTS: "http://h1:port"}, "is not like"),
        ({ENDPOINTS: "http://user:word@h1:2379"}, "is not like"),
        ({ENDPOINTS: "http://h1:2379/v3"}, "is not like"),
        ({ENDPOINTS: "http://h1:2379;http://h1:2379"}, "twice"),
        ({"controllerEtcdPrefix": "gantry"}, "does not begin with /"),
        ({"controllerEtcdPrefix": "/"}, "does not begin with / and a name"),
        ({"controllerEtcdUser": "gantry"}, "controllerEtcdUser and controllerEtcdPasswordFile are given together"),
        ({"controllerEtcdKeyFile": "key"}, "given together or not at all"),
        ({"controllerEtcdUser": "u", "controllerEtcdPasswordFile": "/no/such"}, "/no/such cannot be read"),
        ({"controllerEtcdTimeout": "1000"}, "not from 100 to 999 ms"),
        ({"controllerLeaderTtl": "2"}, "not from 3 to 60 s"),
        ({"controllerEtcdTimeOut": "700"}, "there is no setting controllerEtcdTimeOut"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(texts: dict[str, str], says: str) -> None:
    with pytest.raises(EtcdRefused, match=says):
        EtcdConfig.of({ENDPOINTS: "http://h1:2379"} | texts, "C")
