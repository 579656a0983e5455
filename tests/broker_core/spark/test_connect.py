"""Reaching a Spark Connect server; programs/test_cluster.py has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.spark import connect as connecting
from broker_core.spark.connect import connect
from broker_core.spark.errors import BadRequest, Unreachable


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(connecting, "_PACKAGES", ("msgspec", "no_such_package", "no_such_package.part"))
    with pytest.raises(BadRequest, match=r"missing \(no_such_package, no_such_package.part\): install"):
        connect("sc://127.0.0.1:1", "test", {}, tmp_path / "code.zip")


def test_a_server_that_does_not_answer_is_said_at_once_and_without_its_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(connecting, "_PACKAGES", ())
    with pytest.raises(Unreachable, match=r"Spark Connect server sc://127.0.0.1:1: .*refused") as refused:
        connect("sc://127.0.0.1:1/;token=secret", "test", {}, tmp_path / "code.zip")
    assert "secret" not in str(refused.value)


def test_a_server_of_another_version_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"server has Spark 3\.5\.9, and Gantry PySpark"):
        connecting._check_version("3.5.9")
