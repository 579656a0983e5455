"""Forks Spark's Python workers: ``pyspark.daemon``, from files that Python has already compiled.

Spark puts its own archive of pyspark first on the path, from which every worker would compile all its imports again.

A worker whose task Spark gave up writes to nobody. That is no fault, and it is found out late: its traceback would be
in the log of the next job of a warm driver.
"""

from __future__ import annotations

import socket
import sys

sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]

# Modules that every worker needs and that start no thread: a forked worker has already imported them.
import pyspark.worker  # noqa: E402, F401
from pyspark import daemon  # noqa: E402

# It has most of what our tasks import. Arrow is not among it, since that starts a thread.
import broker_core.spark.wire  # noqa: E402, F401

_serve = daemon.worker


def worker(sock: socket.socket, authenticated: bool) -> int:
    """Do tasks of Spark until it takes no more, and return the exit status; `pyspark.daemon.worker` has a traceback."""
    try:
        return _serve(sock, authenticated)
    except (BrokenPipeError, ConnectionResetError):
        return 1


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
