"""Starting Spark's JVM without Spark's launcher."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark
import pytest

from broker_core.spark.java import find_java
from broker_core.spark.jvm import GATEWAY, LEFT_OUT, OPTIONS, JavaEnded, jars, launches_itself, start_jvm
from broker_core.spark.settings import shared_cache

HOME = Path(pyspark.__file__).parent
_VECTORS = "--add-modules=jdk.incubator.vector"


def test_java_gets_the_options_of_sparks_launcher_and_its_jars_but_those_left_out() -> None:
    # Given what Spark's launcher would start
    java = find_java(shared_cache()).home / "bin" / "java"
    launcher = [str(java), "-cp", f"{HOME}/jars/*", "org.apache.spark.launcher.Main"]
    program = ["org.apache.spark.deploy.SparkSubmit", "--conf", "spark.driver.memory=1g", "pyspark-shell"]
    environ = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_SCALA_VERSION": "2.13"}
    answer = subprocess.run([*launcher, *program], env=environ, capture_output=True, text=True, check=True, timeout=60)
    words = [word.strip() for word in answer.stdout.split("\0") if word.strip()]
    # Then ours is the same, without the vectors
    options = words[words.index("-Xmx1g") + 1 : words.index("org.apache.spark.deploy.SparkSubmit")]
    assert [word for word in options if word != _VECTORS] == list(OPTIONS)
    assert words[words.index("-cp") + 1] == f"{HOME}/conf:{jars(HOME)[0]}:{HOME}/jars/*"
    # And only jars of machine learning are missing
    missing = {path.name for path in (HOME / "jars").glob("*.jar")} - {path.name for path in jars(HOME)}
    assert len(missing) >= len(LEFT_OUT)
    assert all(name.startswith(LEFT_OUT) for name in missing)


@pytest.mark.parametrize(
    ("settings", "environ", "expected"),
    [
        ({"spark.driver.memory": "1g"}, {"PATH": "/bin"}, True),
        ({"spark.driver.extraClassPath": "/jars/a.jar"}, {}, False),
        ({"spark.driver.defaultJavaOptions": "-Da=b"}, {}, False),
        ({}, {"HADOOP_CONF_DIR": "/etc/hadoop"}, False),
        ({}, {"SPARK_CONF_DIR": ""}, True),
    ],
)
def test_what_only_sparks_launcher_knows_is_left_to_it(
    settings: dict[str, str], environ: dict[str, str], expected: bool
) -> None:
    assert launches_itself(settings, environ) is expected


def test_a_java_that_does_not_start_is_an_error_at_once(tmp_path: Path) -> None:
    settings = {"spark.driver.memory": "1k", "spark.driver.extraJavaOptions": ""}
    jvm = start_jvm(find_java(shared_cache()).home, HOME, settings, [])
    with pytest.raises(JavaEnded, match="Java ended with status 1 while Spark was started"):
        jvm.wait()
    assert not jvm.address_file.parent.exists()


def test_a_java_that_another_one_replaces_ends_and_leaves_no_secret() -> None:
    java, settings = find_java(shared_cache()).home, {"spark.driver.memory": "64m", "spark.driver.extraJavaOptions": ""}
    begun = start_jvm(java, HOME, settings, [GATEWAY])
    # When the program turns out to need other options
    other = start_jvm(java, HOME, {**settings, "spark.driver.memory": "1k"}, [GATEWAY], begun)
    assert other is not begun
    begun.process.wait(60)
    with pytest.raises(JavaEnded):
        other.wait()
    assert not begun.address_file.parent.exists()
