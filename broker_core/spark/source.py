"""``format("rocketmq")``: a topic as a table, from the files of a store or over the wire, and as a place to write to.

Batch reads are a snapshot: new messages appear only after the next ``load()``, since Spark keeps one read plan per
DataFrame (spark/README.md#what-pyspark-does). Modules that cost time are imported by the methods: Spark imports this
one in every session that uses any Python data source.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from broker_core.spark.options import SourceOptions
    from broker_core.spark.sink_options import QueueSelector, SinkOptions


class RocketMQSource(DataSource):
    """Its options are those of `options.parse_source_options` for reading and `sink_options` for writing."""

    def __init__(self, options: dict[str, str]) -> None:
        """Made once for each ``load()``, and then pickled for each process that plans or reads."""
        super().__init__(options)
        self.load_id = secrets.token_hex(8)

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return "rocketmq"

    def schema(self) -> StructType:
        """Return the columns selected by the options."""
        from broker_core.spark.options import Mode, parse_source_options
        from broker_core.spark.schema import choose_columns, spark_schema

        # Spark asks for the columns of a batch read and of a stream in the same way.
        options = parse_source_options(self.options, is_stream=None)
        with_error = options.mode is Mode.PERMISSIVE
        return spark_schema(
            choose_columns(options.columns, with_error=with_error, with_properties=options.include_properties)
        )

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of these columns; a schema given by the user also selects columns."""
        from broker_core.spark.options import parse_source_options
        from broker_core.spark.pushed import PushingReader
        from broker_core.spark.schema import columns_of

        options = parse_source_options(self.options)
        columns = columns_of(schema)
        return (
            PushingReader(options, columns, self.load_id)
            if options.filter_pushdown
            else RocketMQReader(options, columns)
        )

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return the reader of these columns as a stream."""
        from broker_core.spark.options import parse_source_options
        from broker_core.spark.schema import columns_of
        from broker_core.spark.stream import RocketMQStreamReader

        return RocketMQStreamReader(parse_source_options(self.options, is_stream=True), columns_of(schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Return the writer of rows with these columns; messages cannot be overwritten."""
        from broker_core.spark.sink import RocketMQWriter

        return RocketMQWriter(*self._sink(schema, overwrite))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:  # noqa: N802
        """Return the writer of the batches of a stream; messages cannot be overwritten."""
        from broker_core.spark.sink import RocketMQStreamWriter

        return RocketMQStreamWriter(*self._sink(schema, overwrite))

    def _sink(self, schema: StructType, overwrite: bool) -> tuple[SinkOptions, QueueSelector]:
        from broker_core.spark.errors import BadOption
        from broker_core.spark.sink_options import parse_sink_options
        from broker_core.spark.sink_rows import check_columns

        if overwrite:
            raise BadOption("mode", "overwrite", "a topic is only appended to: mode('append'), outputMode('append')")
        options = parse_sink_options(self.options)
        return options, check_columns(schema, options)


class RocketMQReader(DataSourceReader):
    """Plans in the planner's process, is pickled, and reads in workers."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        """Read `columns` of the topics in `options`."""
        self.columns = tuple(columns)
        self.options_read = replace(options, columns=self.columns)

    def partitions(self) -> Sequence[InputPartition]:
        """Return the ranges to read: a snapshot of now."""
        from broker_core.spark.places import matches_none, resolved
        from broker_core.spark.reading import plan

        asked = self.options_read
        self.options_read = resolved(asked)
        if not self.options_read.topics:
            raise matches_none(asked)
        return list(plan(self.options_read))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a range as Arrow batches."""
        from broker_core.spark.partitions import FilePartition, WirePartition
        from broker_core.spark.reading import read_rows, settle_worker

        settle_worker()
        # Spark replaces an empty plan with one empty partition.
        if isinstance(partition, FilePartition | WirePartition):
            yield from read_rows(partition, self.options_read, self.columns)
