"""Forks Spark's Python workers: ``pyspark.daemon``, from files that Python has already compiled.

Spark puts its own archive of pyspark first on the path, from which every worker would compile all its imports again.
"""

from __future__ import annotations

import sys

sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]

# Modules that every worker needs and that start no thread: a forked worker has already imported them.
import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

# It has most of what our tasks import. Arrow is not among it, since that starts a thread.
import broker_core.spark.wire  # noqa: E402, F401

if __name__ == "__main__":
    manager()
