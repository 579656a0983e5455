"""RocketMQ's settings of TLS: what they mean, and which combinations are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.properties_file import BadPropertiesFile
from broker_core.remoting import ClientAuth, TlsMode, TlsRefused, TlsSettings
from broker_core.remoting.tls_settings import read_settings

PAIR = {"tls.server.certPath": "/a.pem", "tls.server.keyPath": "/a.key"}
MUTUAL = PAIR | {"tls.server.trustCertPath": "/ca.pem", "tls.server.need.client.auth": "require"}


def test_without_settings_there_is_no_tls() -> None:
    settings = TlsSettings.of({})
    assert (settings.server_mode, settings.server(), settings.client()) == (TlsMode.DISABLED, None, None)


def test_with_a_certificate_both_are_served_unless_the_mode_says_else() -> None:
    assert TlsSettings.of(PAIR).server_mode is TlsMode.PERMISSIVE
    assert TlsSettings.of(PAIR | {"tls.server.mode": "ENFORCING"}).server_mode is TlsMode.ENFORCING
    assert TlsSettings.of(PAIR | {"tls.server.mode": "disabled"}).server() is None


@pytest.mark.parametrize(
    ("mode", "enable", "connects"),
    [
        ("permissive", "", False),
        ("enforcing", "", True),
        ("enforcing", "false", False),
        ("permissive", "true", True),
        ("disabled", "TRUE", True),
    ],
)
def test_an_enforcing_process_connects_with_tls_unless_told_otherwise(mode: str, enable: str, connects: bool) -> None:
    settings = TlsSettings.of(PAIR | {"tls.server.mode": mode, "tls.enable": enable})
    assert settings.connects_with_tls is connects


def test_client_certificates_are_asked_for_as_told() -> None:
    assert TlsSettings.of(MUTUAL).client_auth is ClientAuth.REQUIRE
    assert TlsSettings.of(MUTUAL | {"tls.server.authClient": "true"}).client_auth is ClientAuth.REQUIRE
    assert TlsSettings.of(PAIR | {"tls.server.trustCertPath": "/ca.pem"}).client_auth is ClientAuth.NONE


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ({"tls.server.keypath": "/a.key"}, "there is no setting tls.server.keypath"),
        ({"tls.server.mode": "on"}, "tls.server.mode=on is not disabled or permissive or enforcing"),
        (
            {"tls.server.mode": "enforcing"},
            "tls.server.mode=enforcing needs tls.server.certPath and tls.server.keyPath",
        ),
        ({"tls.server.mode": "permissive"}, "tls.server.mode=permissive needs"),
        ({"tls.server.certPath": "/a.pem"}, "tls.server.certPath is given without tls.server.keyPath"),
        ({"tls.server.keyPath": "/a.key"}, "tls.server.keyPath is given without tls.server.certPath"),
        ({"tls.test.mode.enable": "true"}, "tls.test.mode.enable=true: Gantry makes no certificates"),
        ({"tls.enable": "yes"}, "tls.enable=yes is not true or false"),
        ({"tls.client.certPath": "/c.pem"}, "given together or not at all"),
        (
            {"tls.client.authServer": "false", "tls.client.trustCertPath": "/ca.pem"},
            "tls.client.trustCertPath has no use with tls.client.authServer=false",
        ),
        (PAIR | {"tls.server.need.client.auth": "require"}, "need.client.auth=require needs tls.server.trustCertPath"),
        (
            {"tls.server.trustCertPath": "/ca.pem", "tls.server.need.client.auth": "require"},
            "need.client.auth=require needs tls.server.certPath and tls.server.keyPath",
        ),
        (PAIR | {"tls.server.need.client.auth": "must"}, "need.client.auth=must is not none or optional or require"),
        (MUTUAL | {"tls.server.authClient": "false"}, "always checked, but tls.server.authClient is false"),
        (PAIR | {"tls.server.authClient": "true"}, "authClient=true needs tls.server.need.client.auth"),
    ],
)
def test_wrong_combinations_are_refused_by_name(texts: dict[str, str], reason: str) -> None:
    with pytest.raises(TlsRefused, match=reason.replace(".", r"\.")):
        TlsSettings.of(texts)


def test_files_are_read_at_the_start(tmp_path: Path) -> None:
    settings = TlsSettings.of({name: str(tmp_path / "none") for name in PAIR})
    with pytest.raises(TlsRefused, match="none: No such file"):
        settings.server()
    with pytest.raises(TlsRefused, match="none: No such file"):
        TlsSettings.of({"tls.enable": "true", "tls.client.trustCertPath": str(tmp_path / "none")}).client()


def test_a_file_goes_before_what_is_below_and_after_what_is_above(tmp_path: Path) -> None:
    file = tmp_path / "tls.properties"
    file.write_text("tls.test.mode.enable=false\ntls.server.certPath=/file.pem\ntls.server.keyPath=/file.key\n")
    settings = read_settings(
        file,
        below={"tls.server.mode": "disabled", "tls.server.certPath": "/below"},
        above={"tls.server.keyPath": "/up"},
    )
    assert (settings.certificate, settings.key, settings.mode) == ("/file.pem", "/up", "disabled")
    with pytest.raises(BadPropertiesFile, match="cannot be read"):
        read_settings(tmp_path / "none", below={}, above={})


def test_passwords_are_not_told() -> None:
    settings = TlsSettings.of(PAIR | {"tls.server.keyPassword": "SECRET", "tls.client.keyPassword": "SECRET"})
    assert "SECRET" not in repr(settings)
    told = dict(settings.texts())
    assert "SECRET" not in told.values()
    assert told["tls.server.certPath"] == "/a.pem"
