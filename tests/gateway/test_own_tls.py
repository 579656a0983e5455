"""TLS of the embedded broker: what the environment says, what is refused, and an instance that serves TLS only."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.protocol import java_properties
from broker_core.remoting import ClientTlsFiles
from gateway.env import BadSetting
from gateway.own_tls import own_tls
from gateway.up.config import UpConfig
from gateway.up.processes import plan
from tests.support.certificates import Authority, Issued
from tests.support.gantry import Place
from tests.support.tls_broker import authority_in


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Issued]:
    return authority_in(tmp_path_factory.mktemp("tls"))


def environment(issued: Issued, **others: str) -> dict[str, str]:
    return {"GANTRY_TLS_CERT": str(issued.certificate), "GANTRY_TLS_KEY": str(issued.key), **others}


def test_without_a_certificate_there_is_no_tls(tmp_path: Path) -> None:
    assert (own_tls({}).texts, own_tls({}).client) == ({}, None)
    config = UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path), "GANTRY_REDIS_URL": "redis://127.0.0.1:1/0"})
    assert not [child for child in plan(config, tmp_path).children if "--tls-config" in child.command]


def test_only_where_nothing_else_is_served_own_clients_connect_with_tls(made: tuple[Authority, Issued]) -> None:
    _, issued = made
    assert own_tls(environment(issued)).client is None
    found = own_tls(environment(issued, GANTRY_TLS_MODE="enforcing")).client
    assert found == ClientTlsFiles(
        authorities=issued.certificate, certificate=issued.certificate, key=issued.key, checks_host=False
    )


def test_the_password_is_in_a_file_of_its_own_and_in_no_command(made: tuple[Authority, Issued], tmp_path: Path) -> None:
    locked = made[0].issue("locked", password="SECRET")
    given = environment(locked, GANTRY_TLS_KEY_PASSWORD="SECRET", GANTRY_BROKERS="2")
    redis = {"GANTRY_REDIS_URL": "redis://127.0.0.1:1/0"}
    config = UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path), **redis, **given})
    assert "SECRET" not in repr(config)
    children = {child.name: child for child in plan(config, tmp_path).children}
    for name in ("namesrv", "broker-a", "broker-b"):
        command = children[name].command
        file = Path(command[command.index("--tls-config") + 1])
        assert file.stat().st_mode & 0o777 == 0o600
        assert java_properties.parse(file.read_bytes())["tls.server.keyPassword"] == "SECRET"
        assert "SECRET" not in " ".join(command)


@pytest.mark.parametrize(
    ("settings", "named", "reason"),
    [
        (
            {"GANTRY_TLS_MODE": "enforcing"},
            "GANTRY_TLS_MODE",
            "GANTRY_TLS_MODE=enforcing needs GANTRY_TLS_CERT and GANTRY_TLS_KEY",
        ),
        ({"GANTRY_TLS_MODE": "on"}, "GANTRY_TLS_MODE", "GANTRY_TLS_MODE=on is not disabled or permissive or enforcing"),
        (
            {"GANTRY_TLS_CERT": "/nowhere.pem", "GANTRY_TLS_KEY": "/nowhere.key"},
            "GANTRY_TLS_CERT",
            "/nowhere.pem: No such file",
        ),
        ({"GANTRY_TLS_KEY": "/a.key"}, "GANTRY_TLS_KEY", "GANTRY_TLS_KEY is given without GANTRY_TLS_CERT"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_its_own_names(
    settings: dict[str, str], named: str, reason: str
) -> None:
    with pytest.raises(BadSetting) as refused:
        UpConfig.read(settings)
    assert str(refused.value).startswith(f"{named}={settings[named]!r}: ")
    assert reason in str(refused.value)
    assert "tls.server" not in str(refused.value)


def test_client_certificates_need_their_authorities(made: tuple[Authority, Issued]) -> None:
    with pytest.raises(BadSetting, match="GANTRY_TLS_CLIENT_AUTH=require needs GANTRY_TLS_CA"):
        own_tls(environment(made[1], GANTRY_TLS_CLIENT_AUTH="require"))


@pytest.mark.timeout(300)
def test_an_instance_that_serves_tls_only_works_as_any_other(made: tuple[Authority, Issued], tmp_path: Path) -> None:
    authority, issued = made
    settings = environment(
        issued, GANTRY_TLS_MODE="enforcing", GANTRY_TLS_CLIENT_AUTH="require", GANTRY_TLS_CA=str(authority.certificate)
    )
    with Place.free(tmp_path / "data").started(**settings) as gantry, gantry.client() as client:
        assert "could not be created" not in gantry.output
        topic = "/clusters/local/topics/hello"
        assert client.get(topic).status_code == 200, gantry.output
        assert client.get("/clusters/local").json()["tls"] is None
