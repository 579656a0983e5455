"""The columns of a topic's table."""

from __future__ import annotations

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from broker_core.spark.errors import BadOption, UnknownOption
from broker_core.spark.schema import BY_REQUEST_ONLY, COLUMNS, choose_columns, columns_of, spark_schema


def test_costly_columns_come_only_when_they_are_named() -> None:
    assert set(choose_columns(None, with_error=True)) == set(COLUMNS) - BY_REQUEST_ONLY
    assert choose_columns(["crc_ok", "body"], with_error=False) == ("crc_ok", "body")


def test_the_error_column_belongs_to_permissive_reading() -> None:
    assert "_error" not in choose_columns(None, with_error=False)


def test_an_unknown_column_names_the_nearest_one() -> None:
    with pytest.raises(UnknownOption, match="did you mean 'queue_offset'"):
        choose_columns(["queueoffset"], with_error=True)


def test_a_column_named_twice_is_refused() -> None:
    with pytest.raises(BadOption, match="twice"):
        choose_columns(["body", "body"], with_error=True)


def test_a_schema_of_the_user_chooses_columns() -> None:
    assert columns_of(spark_schema(["tag", "body"])) == ("tag", "body")


def test_a_schema_of_the_user_cannot_change_a_type() -> None:
    assert columns_of(StructType([StructField("tag", StringType())])) == ("tag",)
    with pytest.raises(BadOption, match="tag has the type string"):
        columns_of(StructType([StructField("tag", LongType())]))
