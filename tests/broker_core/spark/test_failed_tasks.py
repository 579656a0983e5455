"""Spark tries failed tasks again: after a lost process, and not after the fault of a value."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import LongType, StructField, StructType

from broker_core.spark.errors import BadRequest, without_values
from broker_core.spark.failed_tasks import FailedTasks
from broker_core.spark.failed_values import Expression, failing_expressions, is_text_of_values
from broker_core.spark.tasks import TaskLost, map_in_arrow, run_tasks_on

pytestmark = pytest.mark.spark
FAILS = "id <> 1500 or cast(concat('x', id) as int) > 1"
NUMBERS = StructType([StructField("id", LongType())])


def numbers(spark: SparkSession, before: Callable[[int], object] = lambda attempt: None) -> DataFrame:
    """Return 2000 numbers of one task, which calls `before` with the number of its attempt."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        before(context.attemptNumber())
        list(batches)
        yield pa.RecordBatch.from_arrays([pa.array(range(2000), pa.int64())], ["id"])

    return map_in_arrow(spark.range(0, 1, 1, 1), read, NUMBERS)


def watched(spark: SparkSession, text: str = FAILS) -> Any:
    return failing_expressions(spark, [Expression("source.where", text, lambda: spark.range(1))])


def count(_item: int, batches: Iterator[pa.RecordBatch]) -> int:
    return sum(batch.num_rows for batch in batches)


def test_a_value_is_the_cause_also_where_the_work_of_a_task_is_not_done_twice(spark: SparkSession) -> None:
    """The second try refuses to write again, and knows nothing of the first one."""
    rows = numbers(spark).selectExpr("id", f"{FAILS} as wanted")
    told = r"^source\.where: it cannot be computed for a message: CAST_INVALID_INPUT"
    with pytest.raises(BadRequest, match=told), watched(spark):
        run_tasks_on(rows, [0], count)


def test_a_lost_process_is_no_fault_of_an_expression(spark: SparkSession) -> None:
    def die(_item: int, _batches: Iterator[pa.RecordBatch]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(TaskLost), watched(spark, "id >= 0"):
        run_tasks_on(numbers(spark).selectExpr("id", "id >= 0 as wanted"), [0], die)


def test_a_read_whose_process_was_lost_is_tried_again(spark: SparkSession) -> None:
    def die_first(attempt: int) -> None:
        if attempt == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with watched(spark, "id >= 0"):
        assert numbers(spark, die_first).where("id >= 0").count() == 2000


def test_a_read_that_failed_on_a_value_is_not_tried_to_its_end(spark: SparkSession, tmp_path: Path) -> None:
    tried = tmp_path / "tried to the end"

    def take_long_next(attempt: int) -> None:
        if attempt > 0:
            threading.Event().wait(20)
            tried.touch()

    with pytest.raises(BadRequest, match=r"source\.where"), watched(spark):
        numbers(spark, take_long_next).where(FAILS).collect()
    assert not tried.exists()


def test_the_expression_that_fails_is_found_at_its_first_try(spark: SparkSession, tmp_path: Path) -> None:
    """Also where there is no time for a second one."""
    tried = tmp_path / "tried to the end"

    def take_long_next(attempt: int) -> None:
        if attempt > 0:
            threading.Event().wait(20)
            tried.touch()

    wrong = "cast(concat('x', id) as int)"
    both = [
        Expression("source.where", "id >= 0", lambda: numbers(spark).selectExpr("id >= 0")),
        Expression("target.tag", wrong, lambda: numbers(spark, take_long_next).selectExpr(wrong)),
    ]
    # Of the function alone Spark does not say where it stands.
    failing = numbers(spark).select(functions.col("id").cast("string").substr(9, 1).cast("int"))
    with pytest.raises(BadRequest, match=r"^target\.tag: "), failing_expressions(spark, both):
        failing.collect()
    assert not tried.exists()


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("cast(concat('x', id) as int)", 'CAST_INVALID_INPUT ("STRING" to "INT")'),
        ("1 / (id - 1500)", "DIVIDE_BY_ZERO"),
        (
            "date_format(timestamp'2026-01-01', if(id < 1500, 'y', 'YY' || id))",
            "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
        ),
        ("format_string('%d', concat('x', id))", "IllegalFormatConversionException"),
    ],
)
def test_the_text_that_a_task_leaves_says_as_much_as_the_error(spark: SparkSession, value: str, what: str) -> None:
    failures = FailedTasks(spark, is_text_of_values)
    assert failures.found() is None
    with pytest.raises((PySparkException, Py4JError)):
        numbers(spark).selectExpr(f"{value} as value").collect()
    found = failures.found()
    assert found is not None
    assert without_values(found) == what
    # Whoever begins now has nothing to do with it
    assert FailedTasks(spark, is_text_of_values).found() is None
