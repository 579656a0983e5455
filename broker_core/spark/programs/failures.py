"""How a run ends: the exit codes, and an error as one sentence (spark/README.md#programs)."""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from typing import Final

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from broker_core.client import errors as client
from broker_core.errors import GantryError
from broker_core.spark.errors import (
    BadOption,
    BadRequest,
    DamagedRecord,
    DataLoss,
    JavaNotFound,
    StoreUnreadable,
    Unreachable,
    without_values,
)

OK: Final = 0
CRASHED: Final = 1
CANCELLED: Final = 130
PAUSED: Final = 75
PARTIAL: Final = 3
UNREACHABLE: Final = 4
DAMAGED: Final = 5
_BAD_REQUEST: Final = 2
_EXIT_CODES: Final[Mapping[type[GantryError], int]] = {
    BadRequest: _BAD_REQUEST,
    BadOption: _BAD_REQUEST,
    Unreachable: UNREACHABLE,
    StoreUnreadable: UNREACHABLE,
    client.Unreachable: UNREACHABLE,
    client.NoRoute: UNREACHABLE,
    client.BrokerBusy: UNREACHABLE,
    client.BrokerUnavailable: UNREACHABLE,
    JavaNotFound: _BAD_REQUEST,
    DataLoss: DAMAGED,
    DamagedRecord: DAMAGED,
}
# The launcher shows these; the exit code alone tells less.
_CAUSES: Final[Mapping[type[GantryError], str]] = {
    JavaNotFound: "no_java",
    StoreUnreadable: "store_unreadable",
    DamagedRecord: "damaged_record",
}
_KILLED: Final = "program_killed"
# The last line of a Python traceback.
_QUOTED: Final = re.compile(r"(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|[a-z]\.[A-Z]\w+)): (?P<text>.+)")
_OURS: Final = "broker_core.spark.errors."
JAVA_GONE: Final = "Spark's Java process has ended; it was killed, or the machine ran out of memory"
# Others may quote a value of a message: the log has their text, which not everybody who sees the job may read.
_TELL_NO_VALUE: Final = (AttributeError, ImportError, MemoryError, NameError, OSError, TypeError)
_SPARK_ITSELF: Final = ("org.apache.", "java.", "py4j.", "pyspark.", "scala.")


def code_of(error: GantryError) -> int:
    """Return the exit code for an error of the program itself."""
    return next((code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)), CRASHED)


def cause_of(error: Exception) -> str | None:
    """Return the cause of an error as one word, where the exit code does not tell it."""
    if _is_java_gone(error):
        return _KILLED
    text = str(error)
    return next((word for kind, word in _CAUSES.items() if isinstance(error, kind) or _is_quoted(kind, text)), None)


def error_sentence(error: Exception) -> str:
    """Return an error as one sentence without values of messages: the Python error that Spark quotes, else its own."""
    if _is_java_gone(error):
        return JAVA_GONE
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    quoted = [found for found in map(_QUOTED.match, lines) if found and not found["kind"].startswith(_SPARK_ITSELF)]
    ours = next((found for found in quoted if found["kind"].startswith(_OURS)), None)
    if ours:
        return ours["text"]
    if quoted:
        # The last error was raised; those before it are its causes.
        return _named(quoted[-1]["kind"].rpartition(".")[2], quoted[-1]["text"])
    if isinstance(error, (PySparkException, Py4JError)):
        told = without_values(error)
        return told if told == lines[0] else f"Spark failed: {told}; the log says more"
    return _named(type(error).__name__, lines[0] if lines else "no details are known")


def _named(kind: str, text: str) -> str:
    known = getattr(builtins, kind, None)
    is_open = isinstance(known, type) and issubclass(known, _TELL_NO_VALUE)
    return f"the program failed with {kind}{f': {text}' if is_open else '; the log says more'}"


def _is_java_gone(error: BaseException | None) -> bool:
    """Return whether the connection to Java broke; Py4J then raises the error of its next attempt to connect."""
    while error is not None:
        if isinstance(error, Py4JNetworkError):
            return True
        error = error.__cause__ or error.__context__
    return False


def code_of_text(text: str) -> int:
    """Return the exit code for the error that Spark's text quotes: workers send errors as text."""
    named = (code for kind, code in _EXIT_CODES.items() if _is_quoted(kind, text))
    is_unknown_option = "broker_core.spark.errors.UnknownOption:" in text
    return _BAD_REQUEST if is_unknown_option else next(named, CRASHED)


def _is_quoted(kind: type[Exception], text: str) -> bool:
    return f"{_OURS}{kind.__name__}:" in text
