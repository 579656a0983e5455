"""Where Spark runs."""

from __future__ import annotations

import pytest

from broker_core.spark.errors import BadRequest, Unreachable
from broker_core.spark.masters import address_of, check_master, driver_host, shown


@pytest.mark.parametrize(
    "master", ["local[2]", "spark://h:7077", "sc://h:15002/;token=x", "k8s://https://h:6443", "yarn"]
)
def test_these_masters_run_the_programs(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize("master", ["mesos://h:5050", "nowhere"])
def test_another_master_is_refused_and_the_known_ones_are_named(master: str) -> None:
    with pytest.raises(BadRequest, match=rf"'{master}' cannot run .*; name local\[N\], spark://.* or yarn"):
        check_master(master)


@pytest.mark.parametrize(
    ("master", "address"),
    [
        ("spark://one:7077,two:7077", ("one", 7077)),
        ("sc://one", ("one", 15002)),
        ("sc://one:99/;token=x;use_ssl=true", ("one", 99)),
        ("k8s://https://one:6443", ("one", 6443)),
        ("k8s://one", ("one", 443)),
    ],
)
def test_the_address_of_a_master(master: str, address: tuple[str, int]) -> None:
    assert address_of(master) == address


def test_tasks_reach_this_machine_where_the_route_to_the_master_begins_or_where_a_setting_says() -> None:
    assert driver_host("local[2]") == driver_host("sc://127.0.0.1:15002") == "127.0.0.1"
    assert driver_host("k8s://h:1", {"spark.driver.host": "192.0.2.7"}) == "192.0.2.7"
    with pytest.raises(BadRequest, match=r"GANTRY_SPARK_CONF has to name spark.driver.host"):
        driver_host("yarn")
    with pytest.raises(Unreachable, match=r"Spark master spark://127.0.0.1:many"):
        driver_host("spark://127.0.0.1:many")


def test_the_token_of_a_server_is_not_shown() -> None:
    assert shown("sc://h:15002/;token=secret") == "sc://h:15002"
