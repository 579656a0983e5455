"""The file with Spark's own settings for jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.spark_conf import BadSparkConf, read_conf


def test_the_settings_of_a_file_are_written_as_in_sparks_own(tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(
        "# ours\n\nspark.executor.memory\t2g\nspark.kubernetes.namespace=gantry\nspark.x a=c\nspark.y = a b\n"
    )
    assert read_conf(file, "local[2]") == {
        "spark.executor.memory": "2g",
        "spark.kubernetes.namespace": "gantry",
        "spark.x": "a=c",
        "spark.y": "a b",
    }
    assert read_conf(None, "yarn") == {}


@pytest.mark.parametrize("line", ["executor.memory 2g", "spark.executor.memory"])
def test_a_line_that_is_no_setting_is_refused_with_its_number_and_without_its_text(tmp_path: Path, line: str) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"spark.a b\n{line}\n")
    with pytest.raises(BadSparkConf, match="line 2: not the name") as refused:
        read_conf(file, "local[2]")
    assert line not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSparkConf, match=r"none: .*No such file"):
        read_conf(tmp_path / "none", "yarn")


@pytest.mark.parametrize(
    ("name", "is_only_local"),
    [
        ("spark.sql.variable.substitute", False),
        ("spark.task.maxFailures", False),
        ("spark.driver.extraJavaOptions", False),
        ("spark.authenticate", True),
        ("spark.authenticate.secret", True),
        ("spark.python.unix.domain.socket.enabled", True),
        ("spark.driver.host", True),
    ],
)
def test_what_keeps_jobs_safe_cannot_be_changed(tmp_path: Path, name: str, is_only_local: bool) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"# ours\n{name} = hidden\n")
    with pytest.raises(BadSparkConf, match=rf"spark.conf, line 2: {name} cannot be changed: ") as refused:
        read_conf(file, "local[2]")
    assert "hidden" not in str(refused.value)
    if is_only_local:
        assert read_conf(file, "spark://h:7077") == {name: "hidden"}
    else:
        with pytest.raises(BadSparkConf, match="cannot be changed"):
            read_conf(file, "spark://h:7077")
