"""Starts Spark's JVM as Spark's launcher would, but at once: that is a shell script and a JVM of its own.

What it leaves out, and when Spark's launcher is used after all: spark/README.md#starting-spark.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.spark.errors import SparkError

LEFT_OUT: Final = ("spark-mllib_", "spark-graphx_", "breeze", "spire", "algebra_", "cats-kernel_", "JTransforms-")
"""How the jars begin that no job needs: Spark's machine learning registers its functions in each session."""
OPTIONS: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(
        f"--add-opens={package}=ALL-UNNAMED"
        for package in (
            "java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect", "java.base/java.io",
            "java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
            "java.base/java.util.concurrent.atomic", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
            "java.base/sun.nio.cs", "java.base/sun.security.action", "java.base/sun.util.calendar",
            "java.security.jgss/sun.security.krb5",
        )
    ),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)  # fmt: skip
"""What Spark's launcher gives every JVM, without the module of vectors, which only machine learning uses."""
_FIRST_JAR: Final = "slf4j-api-"
# What Spark's launcher reads, and this module does not.
_LAUNCHER_READS: Final = (
    "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH", "SPARK_SUBMIT_OPTS",
    "SPARK_JAVA_OPTS", "SPARK_PREPEND_CLASSES",
)  # fmt: skip
_LAUNCHER_SETTINGS: Final = (
    "spark.driver.extraClassPath", "spark.driver.extraLibraryPath", "spark.driver.defaultJavaOptions",
)  # fmt: skip
SUBMIT: Final = "org.apache.spark.deploy.SparkSubmit"
GATEWAY: Final = "org.apache.spark.api.python.PythonGatewayServer"
"""What ``SparkSubmit`` starts for PySpark, when it has read settings and found jars."""
_LOOK_S: Final = 0.01


class JavaEnded(SparkError):
    """The JVM ended before it could be reached; its log says why."""


@dataclass(frozen=True, slots=True)
class Jvm:
    """A JVM that was started, and that ends when its standard input is closed."""

    process: subprocess.Popen[bytes]
    command: tuple[str, ...]
    address_file: Path
    """Where it writes its port and the secret for it."""

    def wait(self) -> tuple[int, str]:
        """Return its port and secret when it can be reached; raise JavaEnded."""
        try:
            while not self.address_file.exists():
                if self.process.poll() is not None:
                    raise JavaEnded(f"Java ended with status {self.process.returncode} while Spark was started")
                time.sleep(_LOOK_S)
            data = self.address_file.read_bytes()
        except BaseException:
            self.end()
            raise
        self._forget()
        # As Java writes them: each has its length before it.
        return int.from_bytes(data[:4]), data[8:].decode()

    def end(self) -> None:
        """Let it end, or kill it if nobody has waited for it: it would stay if it cannot write its address."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        if self.address_file.parent.exists():
            self.process.kill()
            self._forget()

    def _forget(self) -> None:
        shutil.rmtree(self.address_file.parent)


def launches_itself(settings: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    """Return whether Spark's launcher is not needed: nothing is set that only it knows."""
    return not any(environ.get(name) for name in _LAUNCHER_READS) and not any(
        name in settings for name in _LAUNCHER_SETTINGS
    )


def start_jvm(
    java_home: Path, spark_home: Path, settings: Mapping[str, str], main: Sequence[str], begun: Jvm | None = None
) -> Jvm:
    """Start a class of Spark with its arguments, or return `begun` if it is the same and end it if it is not.

    Memory and options of Java are those of `settings`. The folder of its address is not one that somebody else may
    remove: a JVM that cannot write its address stays.
    """
    command = (
        str(java_home / "bin" / "java"), "-cp", os.pathsep.join(map(str, jars(spark_home))),
        f"-Xmx{settings['spark.driver.memory']}", *shlex.split(settings["spark.driver.extraJavaOptions"]), *OPTIONS,
        *main,
    )  # fmt: skip
    if begun is not None and begun.command == command and begun.process.poll() is None:
        return begun
    if begun is not None:
        begun.end()
    address_file = Path(tempfile.mkdtemp(prefix="gantry-java-")) / "address"
    environ = {
        **os.environ,
        "SPARK_CONNECT_MODE": "0",
        # Workers of a cluster on this machine are started by Spark's launcher.
        "SPARK_SCALA_VERSION": _scala_version(spark_home),
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address_file),
    }
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environ, preexec_fn=_ignore_interrupts)  # noqa: S603
    return Jvm(process, command, address_file)


def jars(spark_home: Path) -> list[Path]:
    """Return the class path, always in the same order: an archive of classes fits one class path."""
    found = sorted(path for path in (spark_home / "jars").glob("*.jar") if not path.name.startswith(LEFT_OUT))
    return sorted(found, key=lambda path: not path.name.startswith(_FIRST_JAR))


def _scala_version(spark_home: Path) -> str:
    core = next((spark_home / "jars").glob("spark-core_*.jar"))
    return core.name.removeprefix("spark-core_").partition("-")[0]


def _ignore_interrupts() -> None:
    # Ctrl-C in a terminal is for Python alone, which ends Java itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
