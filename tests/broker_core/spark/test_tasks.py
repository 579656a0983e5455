"""Python work on the executors: one task per item, in order, each once."""

from __future__ import annotations

import os
import signal
import traceback
from pathlib import Path

import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from broker_core.spark.errors import DataLoss, UnknownOption
from broker_core.spark.tasks import TaskFailed, TaskLost, run_tasks

pytestmark = pytest.mark.spark


def partition_of(item: object) -> int:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def test_each_item_has_a_task_of_its_own_and_results_come_in_order(spark: SparkSession) -> None:
    assert run_tasks(spark, ["a", "bc", "d"], str.upper) == ["A", "BC", "D"]
    assert run_tasks(spark, [object] * 5, partition_of) == [0, 1, 2, 3, 4]
    assert run_tasks(spark, [], partition_of) == []


def test_an_error_arrives_as_it_was_raised_with_the_traceback_of_its_task(spark: SparkSession) -> None:
    def fail(item: int) -> int:
        if item == 1:
            raise DataLoss("offsets 3 to 5 are gone")
        return item

    with pytest.raises(DataLoss, match=r"offsets 3 to 5 are gone$") as met:
        run_tasks(spark, [0, 1, 2], fail)
    assert "in fail" in "".join(traceback.format_exception(met.value))


def test_an_error_that_cannot_be_sent_arrives_by_its_name(spark: SparkSession) -> None:
    def fail(item: int) -> None:
        raise UnknownOption("topc", ["topic"])

    with pytest.raises(TaskFailed, match="UnknownOption: unknown option 'topc'; did you mean 'topic'"):
        run_tasks(spark, [0], fail)


def test_work_of_a_lost_process_is_not_done_twice(spark: SparkSession, tmp_path: Path) -> None:
    """A task that writes is never run twice."""
    done = tmp_path / "done"

    def work(_: int) -> None:
        with done.open("a") as file:
            file.write("done\n")
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(TaskLost, match="the process of a task was lost"):
        run_tasks(spark, [0], work)
    assert done.read_text() == "done\n"
