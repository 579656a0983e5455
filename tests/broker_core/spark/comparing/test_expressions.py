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
