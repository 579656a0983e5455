"""Settings of `make up`: defaults, checked values, and a help text that names each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.env import BadSetting
from gateway.up.config import UpConfig, usual_workers
from gateway.up.settings import SETTINGS


def test_defaults_are_those_of_the_help_text() -> None:
    config = UpConfig.read({})
    assert config == UpConfig(
        data=Path("data").absolute(),
        bind="127.0.0.1",
        http_port=8000,
        namesrv_port=9876,
        broker_port=10911,
        flush="async",
        redis_url=None,
        workers=usual_workers(),
    )
    defaults = {name: default for name, default, _ in SETTINGS}
    assert Path(defaults["GANTRY_DATA_DIR"]).absolute() == config.data
    assert defaults["GANTRY_BIND"] == config.bind
    assert defaults["GANTRY_HTTP_PORT"] == str(config.http_port)
    assert defaults["GANTRY_NAMESRV_PORT"] == str(config.namesrv_port)
    assert defaults["GANTRY_BROKER_PORT"] == str(config.broker_port)
    assert defaults["GANTRY_FLUSH"] == config.flush


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GANTRY_HTTP_PORT", "http"),
        ("GANTRY_BROKER_PORT", "70000"),
        ("GANTRY_FLUSH", "never"),
        ("GANTRY_BROKERS", "0"),
        ("GANTRY_BROKERS", "17"),
        ("GANTRY_REPLICAS", "0"),
        ("GANTRY_REPLICAS", "6"),
        ("GANTRY_BROKERS_LEFT_OUT", "broker-a"),
        ("GANTRY_BROKERS_LEFT_OUT", "gantry"),
        ("GANTRY_REDIS_URL", "amqp://x"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        UpConfig.read({name: value})


def test_the_port_of_the_last_broker_is_a_port() -> None:
    ports = {"GANTRY_BROKERS": "3", "GANTRY_BROKER_PORT": "65515"}
    assert list(UpConfig.read(ports).broker_ports.values()) == [65_515, 65_525, 65_535]
    with pytest.raises(BadSetting, match="GANTRY_BROKER_PORT='65516': expected a number from 1 to 65515"):
        UpConfig.read(ports | {"GANTRY_BROKER_PORT": "65516"})


def test_replicas_beside_several_brokers_are_refused() -> None:
    with pytest.raises(BadSetting, match=r"^GANTRY_REPLICAS='3': expected 1 with GANTRY_BROKERS=2: "):
        UpConfig.read({"GANTRY_REPLICAS": "3", "GANTRY_BROKERS": "2"})
    assert UpConfig.read({"GANTRY_REPLICAS": "1", "GANTRY_BROKERS": "2"}).replicas == 1


def test_the_port_for_slaves_of_the_last_replica_is_a_port() -> None:
    ports = {"GANTRY_REPLICAS": "2", "GANTRY_BROKER_PORT": "65524"}
    assert UpConfig.read(ports).broker_ports == {"replica-1": 65_524, "replica-2": 65_534}
    with pytest.raises(BadSetting, match="GANTRY_BROKER_PORT='65525': expected a number from 1 to 65524"):
        UpConfig.read(ports | {"GANTRY_BROKER_PORT": "65525"})


def test_a_setting_of_spark_that_jobs_rely_on_is_refused_when_gantry_starts(tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    file.write_text("spark.executor.memory 2g\nspark.authenticate false\n")
    with pytest.raises(BadSetting, match=r"^GANTRY_SPARK_CONF=.*line 2: spark.authenticate cannot be changed"):
        UpConfig.read({"GANTRY_SPARK_CONF": str(file)})
    UpConfig.read({"GANTRY_SPARK_CONF": str(file), "GANTRY_SPARK_MASTER": "spark://h:7077"})


def test_the_console_is_opened_on_loopback_when_all_addresses_are_bound() -> None:
    assert UpConfig.read({"GANTRY_BIND": "0.0.0.0"}).console_url == "http://127.0.0.1:8000"
    assert UpConfig.read({"GANTRY_BIND": "::1"}).console_url == "http://[::1]:8000"
