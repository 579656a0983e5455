"""A session of a Spark Connect server, of which this process is only a client (spark/README.md#beyond-one-machine)."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path
from typing import Final

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from broker_core.spark.errors import BadRequest, Unreachable, first_line
from broker_core.spark.masters import address_of, shown

# What PySpark's client needs besides PySpark: not installed with Gantry, since few need it.
_PACKAGES: Final = ("grpc", "grpc_status", "google.rpc", "pandas")
_REACHED_WITHIN_S: Final = 10.0


def connect(master: str, app_name: str, settings: dict[str, str], code: Path) -> SparkSession:
    """Return a new session with these settings (of SQL alone) and our code for its tasks.

    Raises BadRequest if packages are missing or the server has another version, and Unreachable.
    """
    missing = [name for name in _PACKAGES if not _is_installed(name)]
    if missing:
        raise BadRequest(
            f"Spark Connect needs Python packages that are missing ({', '.join(missing)}): install 'pyspark[connect]' "
            f"of version {pyspark.__version__} into Gantry's environment"
        )
    try:
        # PySpark itself would try for minutes.
        socket.create_connection(address_of(master), timeout=_REACHED_WITHIN_S).close()
        session = SparkSession.builder.remote(master).appName(app_name).create()
        _check_version(session.version)
        for name, value in settings.items():
            session.conf.set(name, value)
        session.addArtifact(str(code), pyfile=True)
    except (PySparkException, OSError, ValueError) as error:
        raise Unreachable(f"Spark Connect server {shown(master)}: {first_line(error)}") from error
    return session


def _check_version(version: str) -> None:
    if version.split(".")[:2] != pyspark.__version__.split(".")[:2]:
        raise BadRequest(f"the Spark Connect server has Spark {version}, and Gantry PySpark {pyspark.__version__}")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
