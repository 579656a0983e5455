"""SQL expressions that cannot be computed for a message: a fault of the request, named by the field it has there.

Spark's errors of this kind quote values, come in several classes, and tell the expression only now and then. Whoever
sees a job may not see its messages, so the value goes into the log alone.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import (
    ArithmeticException,
    DateTimeException,
    NumberFormatException,
    PySparkException,
    QueryContextType,
    SparkRuntimeException,
    SparkUpgradeException,
)
from pyspark.sql import DataFrame, SparkSession

from broker_core.job_folder import say
from broker_core.spark.errors import BadRequest, without_values
from broker_core.spark.failed_tasks import FailedTasks
from broker_core.spark.tasks import TaskLost

# SQLSTATE: data exceptions, violated constraints (a key twice in a map), limits (an array too long), what is raised,
# and what Spark does not understand or serve and notices only with a value (a pattern of dates from a message).
_OF_VALUES: Final = ("22", "23", "54", "P0", "0A", "42")
_STATE: Final = re.compile(r"SQLSTATE: ([0-9A-Z]{5})")
# What functions of Spark raise without a state, as map_from_arrays.
_WITHOUT_STATE: Final = (ArithmeticException, DateTimeException, NumberFormatException, SparkRuntimeException)
_FRAME: Final = re.compile(r"^\s+at (org\.apache\.spark\.\S+)", re.MULTILINE)
_EXPRESSIONS: Final = "org.apache.spark.sql.catalyst.expressions."
_BESIDE_EXPRESSIONS: Final = (
    "org.apache.spark.sql.catalyst.",
    "org.apache.spark.sql.errors.",
    "org.apache.spark.unsafe.",
)
_PYTHON: Final = (
    "PYTHON_EXCEPTION",
    "org.apache.spark.api.python.PythonException",
    "Traceback (most recent call last)",
)
# As Spark quotes code in texts: where it begins in its first line, the line, and marks below what is meant.
_CODE: Final = re.compile(r"^== SQL \(line 1, position (\d+)\) ==\n(.*)\n( *)(\^+)$", re.MULTILINE)
_FIND_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of a request."""

    part: str
    """Its field, as ``target.transform.body``."""
    text: str
    alone: Callable[[], DataFrame]
    """Returns the rows with this expression alone, read without being counted."""


@contextmanager
def failing_expressions(session: SparkSession, expressions: Sequence[Expression]) -> Iterator[None]:
    """Raise BadRequest, with the field, for an expression that Spark cannot compute for a value of some message.

    Spark tries a task again that failed, as it should after the loss of a process: after the fault of a value it is
    kept from that, and what the other try says (`tasks.TaskLost`) is not the cause.
    """
    if not expressions:
        yield
        return
    failures = FailedTasks(session, is_text_of_values)
    try:
        with failures.no_second_try():
            yield
    except (PySparkException, Py4JError, TaskLost) as error:
        is_told = not isinstance(error, TaskLost) and is_of_values(error)
        cause = error if is_told else failures.found()
        if cause is None:
            raise
        say(f"Spark says: {cause}")
        parts = " or ".join(_fields_of(cause, expressions))
        raise BadRequest(
            f"{parts}: it cannot be computed for a message: {without_values(cause)}; the log has what Spark said"
        ) from error


def is_of_values(error: PySparkException | Py4JError) -> bool:
    """Return whether an expression failed on a value, and not Spark, its reading or its sending."""
    text = str(error)
    if any(mark in text for mark in _PYTHON):
        return False
    if isinstance(error, SparkUpgradeException):
        return True
    state = error.getSqlState() if isinstance(error, PySparkException) else None
    if state:
        return state.startswith(_OF_VALUES)
    has_state = _STATE.search(text) is not None
    return (isinstance(error, _WITHOUT_STATE) and not has_state) or is_text_of_values(text)


def is_text_of_values(text: str) -> bool:
    """Return the same of the text of an error, as a failed task leaves it."""
    if any(mark in text for mark in _PYTHON):
        return False
    found = _STATE.search(text)
    return found[1].startswith(_OF_VALUES) if found else _is_raised_by_expressions(text)


def _is_raised_by_expressions(text: str) -> bool:
    """Return whether Spark's first frame in a Java trace computes expressions: functions of Java have no SQLSTATE."""
    # Before it stand the frames of whoever waited for the task.
    of_task = text.partition("Job aborted due to stage failure")[2] or text
    for frame in _FRAME.findall(of_task):
        if frame.startswith(_EXPRESSIONS):
            return True
        if not frame.startswith(_BESIDE_EXPRESSIONS):
            return False
    return False


def _fields_of(error: PySparkException | Py4JError | TaskLost | str, expressions: Sequence[Expression]) -> list[str]:
    """Return the field whose expression failed; several if that cannot be found out."""
    left = list(expressions)
    quoted = _quoted(error)
    if quoted:
        fitting = [each for each in left if any(each.text[begin:].startswith(text) for begin, text in quoted)]
        left = fitting or left
    if len(left) > 1:
        ends_at = time.monotonic() + _FIND_S
        failing = next((each for each in left if time.monotonic() < ends_at and _fails(each, ends_at)), None)
        left = left if failing is None else [failing]
    return list(dict.fromkeys(each.part for each in left))


def _quoted(error: PySparkException | Py4JError | TaskLost | str) -> list[tuple[int, str]]:
    """Return the place and text of the parts of expressions that the error quotes, in code and not in values."""
    if isinstance(error, str):
        return [
            (int(begin) - 1, line[len(before) :][: len(marks)]) for begin, line, before, marks in _CODE.findall(error)
        ]
    contexts = error.getQueryContext() if isinstance(error, PySparkException) else None
    found = [each for each in contexts or () if each.contextType() == QueryContextType.SQL]
    return [(each.startIndex(), each.fragment()) for each in found if each.fragment()]


def _fails(expression: Expression, ends_at: float) -> bool:
    """Compute one expression alone, no longer than until then, and return whether it fails on a value, too."""
    rows = expression.alone()
    failures = FailedTasks(rows.sparkSession, is_text_of_values)
    out_of_time = threading.Timer(max(0.0, ends_at - time.monotonic()), rows.sparkSession.interruptAll)
    out_of_time.start()
    try:
        with failures.no_second_try():
            rows.write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JError) as error:
        # Whoever was interrupted, by time or after the first try, is told so, and not of the value.
        return is_of_values(error) or failures.found() is not None
    finally:
        out_of_time.cancel()
    return False
