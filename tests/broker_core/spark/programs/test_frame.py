"""What a program says of an error: one sentence for people."""

from __future__ import annotations

import pytest
from pyspark.errors import PythonException

from broker_core.spark.programs.frame import told

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
    ("raised", "sentence"),
    [
        (
            "AttributeError: 'NoneType' object has no attribute 'decode'",
            "the program failed with AttributeError: 'NoneType' object has no attribute 'decode'",
        ),
        (
            "broker_core.spark.errors.DamagedRecord: broker-a topic=orders queue=0 offset=2: no record begins here",
            "broker-a topic=orders queue=0 offset=2: no record begins here",
        ),
    ],
)
def test_the_error_of_a_worker_is_the_reason_and_not_that_it_came_from_one(raised: str, sentence: str) -> None:
    assert told(PythonException(WORKER.format(raised=raised))) == sentence


def test_an_error_of_the_program_itself_is_named() -> None:
    assert told(KeyError("lanes")) == "the program failed with KeyError: 'lanes'"
