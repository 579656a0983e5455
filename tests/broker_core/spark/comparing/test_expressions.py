"""Requirements of `broker_core.spark.comparing.expressions`."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from broker_core.spark.comparing.expressions import SideSql
from broker_core.spark.comparing.sides import PLACE_FIELDS
from broker_core.spark.errors import BadRequest

PLACES = [f"cast(null AS string) AS {field.name}" for field in PLACE_FIELDS]


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz", "date"])
def test_a_word_that_spark_takes_for_a_time_is_found_by_the_types_of_the_columns(
    spark: SparkSession, kind: str
) -> None:
    rows = spark.range(1).selectExpr(f"cast('2000-01-01' as {kind}) AS updated", "'now' AS status", *PLACES)
    # Spark takes it for the time of the run
    assert rows.where("updated < 'now' AND updated < 'yesterday'").count() == 1
    with pytest.raises(BadRequest, match=r"left\.where: has 'now', whose value is another one"):
        SideSql("left", where="updated < 'now'").select(rows)
    assert SideSql("left", where="status = 'now'").select(rows).count() == 1


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        (SideSql("left", where="id >"), r"left\.where: \[PARSE_SYNTAX_ERROR\]"),
        (
            SideSql("left", where="x -> x"),
            r"left\.where: Spark does not understand it: INTERNAL_ERROR; the log says more",
        ),
        (SideSql("left", key="id >"), r"by\.left: \[PARSE_SYNTAX_ERROR\]"),
        (SideSql("left", names=("n",), fields=("id >",)), r"compare\.n\.left: \[PARSE_SYNTAX_ERROR\]"),
        (SideSql("left", names=("n",), fields=("upper(x -> x)",)), r"compare\.n\.left: "),
    ],
)
def test_what_spark_does_not_understand_is_refused_by_its_field(spark: SparkSession, sql: SideSql, fault: str) -> None:
    with pytest.raises(BadRequest, match=fault):
        sql.select(spark.range(1).selectExpr("id", *PLACES))
