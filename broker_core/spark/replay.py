"""The replay as tasks: a list of lanes in, one of results out; messages never cross to the JVM.

Each lane is a partition of its own (spark.md 4.2, third form). `mapInArrow` would do the same but wants pandas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyspark.sql import SparkSession

from broker_core.spark.lanes import LaneResult, ReplayJob, copy_lane
from broker_core.spark.replay_plan import Lane, Start


def replay(session: SparkSession, job: ReplayJob, work: Sequence[tuple[Lane, Start]]) -> list[LaneResult]:
    """Copy all lanes, as many at a time as there are cores, and return how each ended."""

    def run(lanes: Iterable[tuple[Lane, Start]]) -> Iterator[LaneResult]:
        return (copy_lane(job, lane, start) for lane, start in lanes)

    return session.sparkContext.parallelize(work, len(work)).mapPartitions(run).collect()
