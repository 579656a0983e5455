"""The checks of `make up` before it starts anything."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gateway.up.checks import free_port, locked, require_distinct, require_free
from gateway.up.errors import CannotStart, FolderInUse, NoRight, PortTaken


def test_a_second_instance_is_refused_the_folder_and_told_who_has_it(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(FolderInUse, match=f"process {os.getpid()}.*GANTRY_DATA_DIR"),
        locked(tmp_path),
    ):
        pass


def test_a_folder_is_free_again_after_its_instance_ended(tmp_path: Path) -> None:
    with locked(tmp_path):
        pass
    with locked(tmp_path):
        assert (tmp_path / "gantry.lock").read_text() == f"{os.getpid()}\n"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoRight, match=r"file/data.*GANTRY_DATA_DIR"), locked(tmp_path / "file" / "data"):
        pass


def test_a_taken_port_is_named_with_its_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port}.*GANTRY_HTTP_PORT"):
            require_free("127.0.0.1", port, "GANTRY_HTTP_PORT")


def test_a_port_that_is_wanted_twice_is_named_with_both_purposes() -> None:
    require_distinct({"the console": 8000, "the broker": 10911})
    with pytest.raises(CannotStart, match="port 8000 is set twice, for the console and for the broker"):
        require_distinct({"the console": 8000, "the broker": 8000})


def test_a_free_port_passes() -> None:
    require_free("127.0.0.1", free_port("127.0.0.1"), "GANTRY_HTTP_PORT")


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(CannotStart, match="GANTRY_BIND"):
        require_free("192.0.2.1", 8000, "GANTRY_HTTP_PORT")
