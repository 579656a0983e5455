"""Forks Spark's Python workers: ``pyspark.daemon``, from files that Python has compiled once.

Spark puts its own archive of pyspark first on the path, from which every worker compiles again all that it imports.
"""

from __future__ import annotations

import sys

sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]

# What every worker needs and what starts no thread, so that they have it when they are forked.
import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

if __name__ == "__main__":
    manager()
