"""Python work on Spark's executors, by the DataFrame API alone, so that it runs on Spark Connect too."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, LongType, StructField, StructType
from pyspark.util import PythonEvalType

from broker_core.spark.errors import SparkError

T = TypeVar("T")
R = TypeVar("R")

_OUTCOMES: Final = StructType([StructField("number", LongType()), StructField("outcome", BinaryType())])
_NAMES: Final = ("number", "outcome")


class TaskFailed(SparkError):
    """A task of `run_tasks` raised an error that cannot be sent as it is; the message has its class and text."""


class TaskLost(SparkError):
    """The process of a task was lost; Spark tried the task again, which would do its work twice."""


def run_tasks(session: SparkSession, work: Sequence[T], f: Callable[[T], R]) -> list[R]:
    """Run ``f(item)`` in a task for each item of `work` and return the results in order.

    `f`, the items and the results are pickled. Each item is worked on once: errors reach the caller as they were
    raised, after all tasks have ended, and are never retried; a lost process is a TaskLost.
    """
    items = [pickle.dumps(item) for item in work]
    if not items:
        return []

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            outcomes = pa.array([_outcome(f, items[number]) for number in numbers], pa.binary())
            yield pa.RecordBatch.from_arrays([batch.column(0), outcomes], _NAMES)

    return _results(map_in_arrow(session.range(0, len(items), 1, len(items)), run, _OUTCOMES))


def run_tasks_on(rows: DataFrame, work: Sequence[T], f: Callable[[T, Iterator[pa.RecordBatch]], R]) -> list[R]:
    """Run ``f(item, batches)`` for each item and the partition of `rows` with its number; return as `run_tasks`.

    `rows` has a partition for each item, which may be empty; `f` may leave batches unread.
    """
    items = [pickle.dumps(item) for item in work]

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        number = context.partitionId()
        outcome = _outcome(lambda item: f(item, iter(batches)), items[number])
        yield pa.RecordBatch.from_arrays([pa.array([number]), pa.array([outcome], pa.binary())], _NAMES)

    return _results(map_in_arrow(rows, run, _OUTCOMES))


def _results(outcomes: DataFrame) -> list[Any]:
    rows = sorted(outcomes.collect(), key=lambda row: row.number)
    found = [pickle.loads(row.outcome) for row in rows]  # noqa: S301 - our tasks'
    for _, error in found:
        if error is not None:
            raise error
    return [result for result, _ in found]


def _outcome(f: Callable[[Any], Any], item: bytes) -> bytes:
    """Return the pickled result and error of a task; one of them is None."""
    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        return pickle.dumps((None, TaskLost("the process of a task was lost, perhaps the machine ran out of memory")))
    try:
        return pickle.dumps((f(pickle.loads(item)), None))  # noqa: S301 - from our driver
    except Exception as error:  # noqa: BLE001 - the driver raises it
        return _pickled_error(error)


def _pickled_error(error: Exception) -> bytes:
    # Tracebacks cannot be pickled, and the log needs that of the task.
    error.add_note(traceback.format_exc())
    try:
        text = pickle.dumps((None, error))
        # Some classes pickle well and cannot be made again.
        pickle.loads(text)  # noqa: S301 - made in the line above
    except Exception:  # noqa: BLE001 - any class may fail in its own way
        return pickle.dumps((None, TaskFailed(f"{type(error).__name__}: {error}")))
    return text


def map_in_arrow(
    rows: DataFrame, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: StructType
) -> DataFrame:
    """Return ``rows.mapInArrow(function, schema)``; that of a classic session requires pandas, which is not needed."""
    if not hasattr(rows, "_jdf"):
        return rows.mapInArrow(function, schema)
    from pyspark.sql.udf import UserDefinedFunction

    udf = UserDefinedFunction(function, returnType=schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    columns = [rows[name] for name in rows.columns]
    return DataFrame(rows._jdf.mapInArrow(udf(*columns)._jc, False, None), rows.sparkSession)
