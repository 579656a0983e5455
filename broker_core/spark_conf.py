"""The file with Spark's own settings for jobs: what it looks like, and which settings it may not change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from broker_core.errors import GantryError

LOCAL: Final = "local"
"""How masters begin that run tasks in the driver on this machine."""

# As Java reads properties: the name ends with a blank, ``=`` or ``:``.
_SETTING: Final = re.compile(r"(spark\.[^\s=:]+)(?:\s*[=:]\s*|\s+)(.+)")
_KEPT: Final[Mapping[str, str]] = {
    "spark.app.name": "Gantry names its jobs",
    "spark.master": "GANTRY_SPARK_MASTER names it",
    "spark.submit.deployMode": "the process of the job is the driver",
    "spark.driver.extraJavaOptions": "Gantry's own stand there; spark.driver.defaultJavaOptions takes others",
    "spark.sql.variable.substitute": "expressions would read variables of the environment",
    "spark.speculation": "a task that writes would send twice",
    "spark.task.maxFailures": "a task that writes would send again",
}
_KEPT_LOCAL: Final[Mapping[str, str]] = {
    "spark.authenticate": "a local Spark makes a secret itself, at each start",
    "spark.authenticate.secret": "a local Spark makes a secret itself, at each start",
    "spark.authenticate.secret.file": "a local Spark makes a secret itself, at each start",
    "spark.driver.host": "a local Spark listens on 127.0.0.1 alone",
    "spark.driver.bindAddress": "a local Spark listens on 127.0.0.1 alone",
    "spark.local.dir": "the files of a job are removed with its folder",
    "spark.sql.warehouse.dir": "the files of a job are removed with its folder",
    "spark.python.daemon.module": "Gantry starts its Python workers itself",
    "spark.python.unix.domain.socket.enabled": "other users of the machine would reach ports of the Python workers",
    "spark.python.unix.domain.socket.dir": "the sockets are in the folder of the job, which is private",
}


class BadSparkConf(GantryError):
    """The file cannot be read or has a setting that it may not have; the message names file, line and setting."""


def read_conf(file: Path | None, master: str) -> dict[str, str]:
    """Return the settings in a file like Spark's ``spark-defaults.conf``, for a Spark on `master`.

    Raises BadSparkConf.
    """
    if file is None:
        return {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSparkConf(f"{file}: {error}") from error
    kept = {**_KEPT, **(_KEPT_LOCAL if master.startswith(LOCAL) else {})}
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        parts = _SETTING.fullmatch(text)
        # The value may be a secret: it is not shown.
        if parts is None:
            raise BadSparkConf(f"{file}, line {number}: not the name of a Spark setting and its value")
        name, value = parts.groups()
        if name in kept:
            raise BadSparkConf(f"{file}, line {number}: {name} cannot be changed: {kept[name]}")
        found[name] = value
    return found
