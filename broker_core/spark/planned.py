"""A table of ranges that are already planned: no Python process plans them again, and the ranges are fixed.

``format("rocketmq")`` plans in Spark's own processes, three times for each ``load()``, each at a different moment.
Here the driver has planned; each task gets its range by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import Partition, read_rows
from broker_core.spark.schema import spark_schema


def planned_table(
    session: SparkSession, partitions: Sequence[Partition], options: SourceOptions, columns: Sequence[str]
) -> DataFrame:
    """Return the rows of the ranges with these columns, a task for each range."""
    parts = list(partitions)

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read_rows(parts[number], options, columns)

    numbers = session.range(0, len(parts), 1, max(1, len(parts)))
    # `DataFrame.mapInArrow` does this after checking for pandas, which is not needed here.
    kind = PythonEvalType.SQL_MAP_ARROW_ITER_UDF
    function = UserDefinedFunction(read, returnType=spark_schema(columns), evalType=kind)
    rows = numbers._jdf.mapInArrow(function(numbers["id"])._jc, False, None)
    return DataFrame(rows, session)
