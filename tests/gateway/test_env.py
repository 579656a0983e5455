"""Requirements of `gateway.env`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway import env
from gateway.env import BadSetting


def test_an_empty_variable_counts_as_absent() -> None:
    for environ in ({}, {"A": ""}, {"A": "  "}):
        assert env.text("A", "default", environ=environ) == "default"
        assert env.port("A", 80, environ=environ) == 80
        assert env.flag("A", True, environ=environ) is True
        assert env.words("A", ("x",), environ=environ) == ["x"]


@pytest.mark.parametrize(
    ("read", "value", "found"),
    [
        (lambda e: env.port("A", 1, environ=e), " 8000 ", 8000),
        (lambda e: env.flag("A", False, environ=e), "YES", True),
        (lambda e: env.flag("A", True, environ=e), "off", False),
        (lambda e: env.words("A", environ=e), "a:1, b:2,,", ["a:1", "b:2"]),
        (lambda e: env.choice("A", "x", ("x", "y"), environ=e), "y", "y"),
        (lambda e: env.redis_url("A", "", environ=e), "unix:///run/r.sock?db=1", "unix:///run/r.sock?db=1"),
    ],
)
def test_a_variable_is_read_as_what_it_is(read: Callable[[dict[str, str]], Any], value: str, found: Any) -> None:
    assert read({"A": value}) == found


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda e: env.port("A", 1, environ=e), "65536"),
        (lambda e: env.port("A", 1, environ=e), "http"),
        (lambda e: env.number("A", 1, low=1, high=5, environ=e), "0"),
        (lambda e: env.flag("A", False, environ=e), "maybe"),
        (lambda e: env.choice("A", "x", ("x", "y"), environ=e), "z"),
        (lambda e: env.redis_url("A", "", environ=e), "http://localhost"),
        (lambda e: env.database("A", "", environ=e), "mysql://localhost/x"),
    ],
)
def test_nonsense_is_refused_by_the_name_of_its_variable(read: Callable[[dict[str, str]], Any], value: str) -> None:
    with pytest.raises(BadSetting, match="A="):
        read({"A": value})


def test_a_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = env.folder("A", tmp_path / "x" / "data", environ={})
    assert made.is_dir()
    assert made.stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    with pytest.raises(BadSetting):
        env.folder("A", tmp_path / "file", environ={})


def test_what_must_be_there_is_there_or_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert env.existing("A", is_folder=True, environ={}) is None
    assert env.existing("A", is_folder=True, environ={"A": str(tmp_path)}) == tmp_path
    assert env.existing("A", is_folder=False, environ={"A": str(file)}) == file
    for is_folder, path in ((True, file), (False, tmp_path), (False, tmp_path / "none")):
        with pytest.raises(BadSetting, match="that is there"):
            env.existing("A", is_folder=is_folder, environ={"A": str(path)})


def test_a_secret_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "secret.key"
    made = env.secret("A", file, environ={})
    assert len(made) >= 50
    assert file.stat().st_mode & 0o777 == 0o600
    assert env.secret("A", file, environ={}) == made
    assert env.secret("A", file, environ={"A": "given"}) == "given"
    assert list(tmp_path.iterdir()) == [file]


def test_processes_that_start_together_share_one_secret(tmp_path: Path) -> None:
    code = "import sys, pathlib; from gateway import env; print(env.secret('A', pathlib.Path(sys.argv[1]), environ={}))"
    command = [sys.executable, "-c", code, str(tmp_path / "secret.key")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    assert len({process.communicate()[0] for process in processes}) == 1


def test_sqlite_waits_for_others_who_write(tmp_path: Path) -> None:
    found = env.database("A", f"sqlite://{tmp_path / 'x.sqlite3'}", environ={})
    assert found["NAME"] == str(tmp_path / "x.sqlite3")
    options: Any = found["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] >= 5
    assert "journal_mode=WAL" in options["init_command"]


def test_postgresql_is_read_from_its_url() -> None:
    url = "postgres://ga%40n:p%2Fw@db.example:5433/gantry?sslmode=require"
    found = env.database("A", url, environ={})
    assert {name: found[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS")} == {
        "NAME": "gantry",
        "USER": "ga@n",
        "PASSWORD": "p/w",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


def test_celery_spells_a_socket_its_own_way() -> None:
    assert env.celery_url("redis://h:1/2") == "redis://h:1/2"
    assert env.celery_url("unix:///run/r.sock?db=3") == "redis+socket:///run/r.sock?virtual_host=3"
    assert env.celery_url("unix:///run/r.sock") == "redis+socket:///run/r.sock?virtual_host=0"


@pytest.mark.parametrize(
    "given", ["gantry.example.org", "ftp://a", "https://", "https://a/b c", "https://a/?x=1", "https://a//b"]
)
def test_a_public_url_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(env.BadSetting, match="PUBLIC"):
        env.public_url("PUBLIC", environ={"PUBLIC": given})
