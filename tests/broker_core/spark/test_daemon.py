"""Requirements of `broker_core.spark.daemon`: what a worker says of a task that Spark gave up."""

from __future__ import annotations

import os
import subprocess
import sys

GIVEN_UP = """
import socket, sys
from broker_core.spark import daemon
spark, ours = socket.socketpair()
spark.close()
sys.exit(daemon.{worker}(ours, True))
"""


def served(worker: str) -> subprocess.CompletedProcess[str]:
    """Let a worker of its own process serve a Spark that has gone, as Spark sets it up."""
    environment = {**os.environ, "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE": "1"}
    command = [sys.executable, "-c", GIVEN_UP.format(worker=worker)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_worker_whose_task_spark_gave_up_ends_without_a_word() -> None:
    """Its words would be in the log of whatever job runs by then."""
    ended = served("worker")
    assert (ended.returncode, ended.stderr) == (1, "")
    # As Spark itself would not
    assert "BrokenPipeError" in served("_serve").stderr
