"""How a run ends: the exit codes, and an error as one sentence (spark/README.md#programs)."""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from typing import Final

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import AnalysisException, PySparkException, PythonException

from broker_core.client import errors as client
from broker_core.errors import GantryError
from broker_core.spark.errors import (
    BadOption,
    BadRequest,
    DamagedRecord,
    DataLoss,
    JavaNotFound,
    StoreUnreadable,
    UnknownOption,
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
# A Python traceback and the line of its error. What stands behind that line may be a value of a message.
_TRACE: Final = re.compile(
    r"^(?:.*PythonException: )?Traceback \(most recent call last\):\n"
    r'[ \t]+File "[^\n]*\n(?:[ \t]+[^\n]*\n)*'
    r"(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<text>[^\n]+))?$",
    re.MULTILINE,
)
_FROM_WORKERS: Final = "org.apache.spark.api.python.PythonException: Traceback"
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
    quoted = _quoted_name(error)
    return next((word for kind, word in _CAUSES.items() if isinstance(error, kind) or quoted == kind.__name__), None)


def error_sentence(error: Exception) -> str:
    """Return an error as one sentence without values of messages: the Python error that Spark quotes, else its own."""
    if _is_java_gone(error):
        return JAVA_GONE
    raised = _raised_in_python(error)
    ours = _of_ours(raised)
    if ours:
        return ours[1]
    if raised:
        # The last error was raised; those before it are its causes.
        return _named(raised[-1][0].rpartition(".")[2], raised[-1][1])
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, (PySparkException, Py4JError)):
        told = without_values(error)
        return told if told == lines[0] else f"Spark failed: {told}; the log says more"
    return _named(type(error).__name__, lines[0] if lines else "no details are known")


def _raised_in_python(error: Exception) -> list[tuple[str, str]]:
    """Return the kind and text of the errors whose tracebacks Spark quotes: workers send errors as text.

    Other errors of Spark may quote a value of a message that looks like one.
    """
    if not isinstance(error, (PySparkException, Py4JError)):
        return []
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    is_of_python = isinstance(error, PythonException) or (condition or "").startswith("PYTHON_")
    text = str(error)
    if not is_of_python and _FROM_WORKERS not in text:
        return []
    found = [(each["kind"], each["text"] or "") for each in _TRACE.finditer(text)]
    return [(kind, said) for kind, said in found if not kind.startswith(_SPARK_ITSELF)]


def _of_ours(raised: list[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the name and text of the first error of this package."""
    return next(((kind.removeprefix(_OURS), text) for kind, text in raised if kind.startswith(_OURS)), None)


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


def code_of_quoted(error: Exception) -> int:
    """Return the exit code for the error of ours that Spark's error quotes, and for what Spark cannot analyze."""
    if isinstance(error, AnalysisException):
        return _BAD_REQUEST
    name = _quoted_name(error)
    by_name = {kind.__name__: code for kind, code in _EXIT_CODES.items()} | {UnknownOption.__name__: _BAD_REQUEST}
    return CRASHED if name is None else by_name.get(name, CRASHED)


def _quoted_name(error: Exception) -> str | None:
    ours = _of_ours(_raised_in_python(error))
    return None if ours is None else ours[0]
