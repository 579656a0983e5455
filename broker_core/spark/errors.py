"""Errors of reading topics with Spark.

GantryError
 └─ SparkError
     ├─ JavaNotFound
     ├─ BadOption ─┬─ UnknownOption
     │             └─ BadUse
     ├─ BadRequest
     ├─ DataLoss
     ├─ DamagedRecord
     ├─ RowRefused
     ├─ NotSent
     ├─ StoreUnreadable
     └─ Unreachable

Planner and worker processes send exceptions as text, so every message names the object, the value and the remedy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

from pyspark.errors import AnalysisException, PySparkException

from broker_core.errors import GantryError
from broker_core.protocol.topics import is_system_topic

_MOST_NAMES = 20
_CONDITION: Final = re.compile(r"Exception: \[([A-Z0-9_.]+)\]")
# The first error of Java itself that a trace names: functions of Java tell no condition.
_JAVA: Final = re.compile(r"(?<=\s)javax?\.[a-z.]+\.([A-Z][A-Za-z]+(?:Exception|Error))(?=[:\s])")
# The value stands before it, and may say anything: the last place counts.
_CAST: Final = re.compile(r'.* of the type ("[^"]+") cannot be cast to ("[^"]+") (?:because|due)', re.DOTALL)
_RAISED_IN_PYTHON: Final = "pyspark.errors.exceptions.base"


class SparkError(GantryError):
    """The base class of all errors of this package."""


class JavaNotFound(SparkError):
    """No Java that can run Spark was found; the message lists every place and why it was rejected."""


class BadOption(SparkError):
    """The value of an option of ``format("rocketmq")`` is invalid."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        super().__init__(f"option {name}={value!r}: {wanted}")
        self.name, self.value, self.wanted = name, value, wanted


class BadUse(BadOption):
    """An option or column that is needed is missing, or two do not go together: no value that was given is wrong."""

    def __init__(self, wanted: str) -> None:
        SparkError.__init__(self, wanted)


class UnknownOption(BadOption):
    """An option, column or queue does not exist; the message suggests the nearest name."""

    def __init__(self, name: str, known: Iterable[str], *, what: str = "option") -> None:
        names = list(known)
        near = difflib.get_close_matches(name.lower(), [each.lower() for each in names], n=1, cutoff=0.6)
        spelled = next((each for each in names if near and each.lower() == near[0]), None)
        known_names = listed(names)
        hint = f"did you mean {spelled!r}? {known_names}" if spelled else known_names
        SparkError.__init__(self, f"unknown {what} {name!r}; {hint}")
        self.name, self.nearest = name, spelled


def listed(known: Iterable[str]) -> str:
    """Return what there is, for an error about a name."""
    names = sorted(known)
    shown = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return f"known: {shown}" if names else "there is none"


def unknown_topic(topic: str, known: Iterable[str]) -> UnknownOption:
    """Return the error for a topic that does not exist; it suggests none that every broker has for itself."""
    return UnknownOption(topic, [name for name in known if not is_system_topic(name)], what="topic")


class BadRequest(SparkError):
    """A job's request cannot be carried out; a retry would not help."""


class DataLoss(SparkError):
    """Messages of the requested range no longer exist; ``failOnDataLoss=false`` reads what is left."""


class QueueGone(DataLoss):
    """A queue that was read before is listed no more: it was removed, or its broker is away, perhaps not for long."""


class DamagedRecord(SparkError):
    """A record in the range is damaged and ``mode`` is ``failFast``."""


class RowRefused(SparkError):
    """A row of a DataFrame is not a message that a broker would accept."""


class NotSent(SparkError):
    """A batch of messages was not stored, or it is unknown whether it was, after all retries."""


class StoreUnreadable(SparkError):
    """The folder is not a store, or its files cannot be opened."""


class Unreachable(SparkError):
    """A broker or name server did not answer; a later retry may help."""


def first_line(error: Exception) -> str:
    """Return the first line of an error's text that says something; the name of the error if there is none."""
    lines = (line.strip() for line in str(error).splitlines() if line.strip())
    return next(lines, type(error).__name__)


def without_values(error: Exception | str) -> str:
    """Return what Spark refused, without the values of rows that its errors quote; a failed task leaves a text alone.

    Before Spark reads rows, its errors quote the request alone, and are told as they are.
    """
    if isinstance(error, PySparkException):
        if isinstance(error, AnalysisException) or type(error).__module__ == _RAISED_IN_PYTHON:
            return first_line(error)
        condition, given = error.getCondition(), error.getMessageParameters() or {}
    else:
        condition, given = None, {}
    named = _CONDITION.search(str(error))
    java = _JAVA.search(str(error))
    name = condition or (named[1] if named else java[1] if java else _name_of(error))
    cast = _CAST.match(str(error))
    kinds = [given[part] for part in ("sourceType", "targetType") if part in given] or (cast.groups() if cast else ())
    return f"{name} ({' to '.join(kinds)})" if kinds else name


def _name_of(error: Exception | str) -> str:
    """Return the name of its class: a text begins with that."""
    if not isinstance(error, str):
        return type(error).__name__
    return error.partition(":")[0].split()[0].rpartition(".")[2]
