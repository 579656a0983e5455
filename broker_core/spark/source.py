"""``spark.read.format("rocketmq")``: a topic as a table, from the files of a store or over the wire.

Filters are never pushed down, and new messages appear only after the next ``load()``: Spark keeps one read plan per
DataFrame (spark/README.md#what-pyspark-does).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from broker_core.spark.options import Mode, SourceOptions, parse_source_options
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.reading import plan, read_rows
from broker_core.spark.schema import choose_columns, columns_of, spark_schema


class RocketMQSource(DataSource):
    """Registered by `session.start`; its options are those of `options.parse_source_options`."""

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return "rocketmq"

    def schema(self) -> StructType:
        """Return the columns selected by the options."""
        options = parse_source_options(self.options)
        return spark_schema(choose_columns(options.columns, with_error=options.mode is Mode.PERMISSIVE))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of these columns; a schema given by the user also selects columns."""
        return RocketMQReader(parse_source_options(self.options), columns_of(schema))


class RocketMQReader(DataSourceReader):
    """Plans in the planner's process, is pickled, and reads in workers."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        """Read `columns` of the topics in `options`."""
        self.options_read, self.columns = options, tuple(columns)

    def partitions(self) -> Sequence[InputPartition]:
        """Return the ranges to read: a snapshot of now."""
        return list(plan(self.options_read))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a range as Arrow batches."""
        # Spark replaces an empty plan with one empty partition.
        if isinstance(partition, FilePartition | WirePartition):
            yield from read_rows(partition, self.options_read, self.columns)
