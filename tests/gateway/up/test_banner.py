"""Requirements of `gateway.up.banner`."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.up.banner import banner
from gateway.up.config import UpConfig
from gateway.up.first_run import Admin
from gateway.up.replicas import Known


@pytest.mark.parametrize(
    ("admin", "said"),
    [
        (Admin("admin", "made-up", is_new=True), "password  made-up   (shown only now)"),
        (Admin("admin", None, is_new=True), "password  as set in GANTRY_ADMIN_PASSWORD"),
        (Admin("admin", None, is_new=False), "password  unchanged"),
    ],
)
def test_it_says_where_the_password_is(admin: Admin, said: str, tmp_path: Path) -> None:
    config = UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path)})
    assert said in banner(config, admin)


def test_it_says_where_several_brokers_are(tmp_path: Path) -> None:
    one = UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path)})
    two = UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path), "GANTRY_BROKERS": "2"})
    admin = Admin("admin", None, is_new=False)
    assert "brokers           broker-a 10911, broker-b 10921" in banner(two, admin)
    assert "broker-a" not in banner(one, admin)


def test_it_says_the_ids_of_replicas_and_which_is_master(tmp_path: Path) -> None:
    config = UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path), "GANTRY_REPLICAS": "3"})
    admin = Admin("admin", None, is_new=False)
    told = banner(config, admin, Known({"replica-1": 1, "replica-2": 3}, "replica-2"))
    assert "  replicas          replica-1 10911 (id 1), replica-2 10921 (id 3, master), replica-3 10931\n" in told
    nobody_knows = banner(config, admin)
    assert "  replicas          replica-1 10911, replica-2 10921, replica-3 10931\n" in nobody_knows
