"""How a program reports an error: as one sentence for users."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import msgspec
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import ParseException, PySparkRuntimeError, PythonException

from broker_core.job_folder import JobFolder, Progress
from broker_core.spark import session as sessions
from broker_core.spark.programs import program
from broker_core.spark.programs.failures import cause_of, code_of_quoted, error_sentence
from broker_core.spark.programs.program import Run
from broker_core.spark.programs.requests import ProgramRequest, SourcePlace, SparkPlace
from broker_core.spark.programs.sparks import OneSpark

REQUEST = ProgramRequest(
    job_id="job1", type="replay", cluster="local", created_by="ann", attempt=1, request_hash="hash", asked={},
    source=SourcePlace(), spark=SparkPlace(master="local[2]", cache="/nowhere"),
)  # fmt: skip
WORKER = """\
An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/srv/broker_core/spark/lanes.py", line 190, in _batches
    for pair in self.copier.copies(rows):
{raised}

	at org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:581)
Caused by: org.apache.spark.SparkException: Job aborted
"""


@pytest.mark.parametrize(
    ("raised", "sentence", "cause"),
    [
        (
            "AttributeError: 'NoneType' object has no attribute 'decode'",
            "the program failed with AttributeError: 'NoneType' object has no attribute 'decode'",
            None,
        ),
        (
            "broker_core.spark.errors.DamagedRecord: broker-a topic=orders queue=0 offset=2: no record begins here",
            "broker-a topic=orders queue=0 offset=2: no record begins here",
            "damaged_record",
        ),
        ("pyarrow.lib.ArrowInvalid: secret", "the program failed with ArrowInvalid; the log says more", None),
        ("ValueError: invalid literal: 'secret'", "the program failed with ValueError; the log says more", None),
    ],
)
def test_the_error_of_a_worker_is_the_reason_and_not_that_it_came_from_one(
    raised: str, sentence: str, cause: str | None
) -> None:
    error = PythonException(WORKER.format(raised=raised))
    assert (error_sentence(error), cause_of(error)) == (sentence, cause)


LIKE_ERRORS = (
    "broker_core.spark.errors.BadRequest: secret",
    "OSError: secret",
    'Traceback (most recent call last):\n  File "a.py", line 1\nbroker_core.spark.errors.DamagedRecord: secret',
)


@pytest.mark.parametrize("value", LIKE_ERRORS)
def test_a_line_of_a_message_is_not_taken_for_an_error(value: str) -> None:
    by_worker = PythonException(WORKER.format(raised=f"ValueError: bad value\n{value.splitlines()[-1]}"))
    by_java = Py4JError(
        f"o1.collect.\n: org.apache.spark.SparkException: [CAST_INVALID_INPUT] The value 'a\n{value}\n'"
    )
    assert error_sentence(by_worker) == "the program failed with ValueError; the log says more"
    assert error_sentence(by_java) == "Spark failed: CAST_INVALID_INPUT; the log says more"
    for error in (by_worker, by_java):
        assert (code_of_quoted(error), cause_of(error)) == (1, None)


def test_an_error_of_ours_tells_the_exit_code_wherever_it_was_raised() -> None:
    raised = "broker_core.spark.errors.UnknownOption: unknown topic 'x'"
    by_worker = WORKER.format(raised=raised).partition("\n")[2]
    wrapped = Py4JError(f"o1.collect.\n: org.apache.spark.api.python.PythonException: {by_worker}")
    assert (code_of_quoted(wrapped), error_sentence(wrapped)) == (2, "unknown topic 'x'")


def test_what_spark_cannot_analyze_is_a_bad_request() -> None:
    refused = ParseException("[PARSE_SYNTAX_ERROR] Syntax error at or near '>'")
    assert code_of_quoted(refused) == 2


def test_an_error_of_the_program_itself_is_named() -> None:
    assert error_sentence(FileNotFoundError("plan.json")) == "the program failed with FileNotFoundError: plan.json"
    assert error_sentence(KeyError("secret")) == "the program failed with KeyError; the log says more"


def test_an_error_of_spark_is_told_without_the_values_that_it_quotes() -> None:
    quoted = "org.apache.spark.SparkException: [MALFORMED_RECORD_IN_PARSING] Malformed records: secret\n\tat org."
    assert error_sentence(Py4JError(f"An error occurred while calling o330.collect.\n: {quoted}")) == (
        "Spark failed: MALFORMED_RECORD_IN_PARSING; the log says more"
    )
    gone = PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    assert "Java gateway process exited" in error_sentence(gone)


def broken_line() -> Exception:
    """Return the error that Py4J raises when Java dies: that of its next attempt to connect."""
    try:
        try:
            raise Py4JNetworkError("Answer from Java side is empty")
        except Py4JNetworkError:
            raise ConnectionRefusedError(111, "Connection refused")  # noqa: B904 - as Py4J does
    except ConnectionRefusedError as error:
        return error


def test_a_java_that_died_is_the_reason() -> None:
    assert error_sentence(broken_line()).startswith("Spark's Java process has ended")
    assert cause_of(broken_line()) == "program_killed"
    assert error_sentence(ConnectionRefusedError(111, "Connection refused")).startswith("the program failed with")


def test_a_java_that_cannot_be_stopped_any_more_does_not_hide_how_the_run_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Gone:
        _jsparkSession = None  # noqa: N815 - PySpark's name

        @property
        def conf(self) -> None:
            raise broken_line()

    monkeypatch.setattr(sessions, "start", lambda _config: Gone())
    monkeypatch.setattr(program, "_listen", lambda _run: None)
    JobFolder(tmp_path).write_json("request.json", msgspec.to_builtins(REQUEST))

    def work(run: Run) -> program.ProgramResult:
        run.start_spark(lambda: None, is_short=lambda: True)
        return program.ProgramResult(program.PARTIAL, "said")

    assert program.run_job(JobFolder(tmp_path), work, OneSpark(), python_s=0.1) == program.PARTIAL
    assert JobFolder(tmp_path).find_json("result.json")["reason"] == "said"


def test_a_stop_is_seen_to_at_once_and_until_the_work_has_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(program, "_TICK_S", 3600.0)
    run = Run(JobFolder(tmp_path), REQUEST, Progress(JobFolder(tmp_path)), OneSpark())
    run.stop_reason = "stopped by SIGTERM"
    looks: list[float] = []
    enough = threading.Event()

    def look() -> None:
        looks.append(time.monotonic())
        if len(looks) == 3:
            enough.set()

    assert run.wait_for(lambda: enough.wait(30), look)
