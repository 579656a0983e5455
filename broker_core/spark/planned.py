"""A table of ranges that are already planned: no Python process plans them again, and the ranges are fixed.

``format("rocketmq")`` plans in Spark's own processes, three times for each ``load()``, each at a different moment.
Here the driver has planned; each task gets its range by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import Partition, read_rows
from broker_core.spark.schema import spark_schema
from broker_core.spark.tasks import map_in_arrow


def planned_table(
    session: SparkSession, work: Sequence[Sequence[Partition]], options: SourceOptions, columns: Sequence[str]
) -> DataFrame:
    """Return the rows of the ranges with these columns: of each item in a partition of its own, in their order."""
    parts = list(work)

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for part in parts[number]:
                    yield from read_rows(part, options, columns)

    numbers = session.range(0, len(parts), 1, max(1, len(parts)))
    return map_in_arrow(numbers, read, spark_schema(columns))
