"""A table of ranges that are already planned: no Python process plans them again, and the ranges are fixed.

``format("rocketmq")`` plans in Spark's own processes, three times for each ``load()``, each at a different moment.
Here the driver has planned; each task gets its range by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import Partition, read_rows, settle_worker
from broker_core.spark.schema import arrow_schema, spark_schema
from broker_core.spark.tasks import map_in_arrow

END: Final = "the end of a range"
"""What `_error` says in the row that marks one."""


def planned_table(
    session: SparkSession,
    work: Sequence[Sequence[Partition]],
    options: SourceOptions,
    columns: Sequence[str],
    *,
    marks_ends: bool = False,
) -> DataFrame:
    """Return the rows of the ranges with these columns: of each item in a partition of its own, in their order.

    With `marks_ends` each range ends with a row more, with `END` and its last offset (`without_end`): when Java fails,
    a task sees the same end of its rows as when there are no more.
    """
    parts = list(work)

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        settle_worker()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for part in parts[number]:
                    yield from read_rows(part, options, columns)
                    if marks_ends:
                        yield _end_of(part, columns)

    numbers = session.range(0, len(parts), 1, max(1, len(parts)))
    return map_in_arrow(numbers, read, spark_schema(columns))


def _end_of(part: Partition, columns: Sequence[str]) -> Any:
    schema = arrow_schema(columns)
    values = {"queue_offset": part.end - 1, "_error": END}
    return pa.RecordBatch.from_arrays([pa.array([values.get(each.name)], each.type) for each in schema], schema=schema)


def without_end(rows: Any) -> Any | None:
    """Return an Arrow batch without its last row if that marks the end of a range, else None."""
    count = rows.num_rows
    return rows.slice(0, count - 1) if count and rows.column("_error")[count - 1].as_py() == END else None
