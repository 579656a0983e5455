"""What failed tasks of a Spark said: a job has the error of the last try alone, when all tries have failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_LOOK_S: Final = 0.2
_SETTLED_WITHIN_S: Final = 2.0
_MOST_TASKS: Final = 1_000


class FailedTasks:
    """The failures of tasks of the Spark jobs that began after this; Spark Connect tells of none."""

    def __init__(self, session: SparkSession, is_wanted: Callable[[str], bool]) -> None:
        """`is_wanted` chooses among the texts of failures: errors with their Java traces."""
        self._is_wanted, self._session = is_wanted, session
        self._context: Any = session.sparkContext if hasattr(session, "_jsparkSession") else None
        self._before = set(self._jobs())
        self._found: str | None = None

    def found(self) -> str | None:
        """Return the first failure that is wanted, of jobs that have ended; None if there is none."""
        until = time.monotonic() + _SETTLED_WITHIN_S
        # Spark notes what happened in an order of its own, a moment later.
        while any(self._is_running(job) for job in self._new_jobs()) and time.monotonic() < until:
            time.sleep(_LOOK_S / 10)
        self._look()
        return self._found

    @contextmanager
    def no_second_try(self) -> Iterator[None]:
        """Interrupt what the session runs when a task failed so that it is wanted: another try would fail as well."""
        if self._context is None:
            yield
            return
        is_over = threading.Event()
        watching = threading.Thread(target=self._watch, args=(is_over,), name="failed tasks", daemon=True)
        watching.start()
        try:
            yield
        finally:
            is_over.set()
            watching.join()

    def _watch(self, is_over: threading.Event) -> None:
        while not is_over.wait(_LOOK_S):
            try:
                self._look()
                if self._found is not None:
                    self._session.interruptAll()
                    return
            except (Py4JError, ConnectionError):
                # Java has gone: so says whoever waits for the job.
                return

    def _look(self) -> None:
        if self._found is None:
            self._found = next(filter(self._is_wanted, self._texts()), None)

    def _texts(self) -> Iterator[str]:
        for job in self._new_jobs():
            info = self._context.statusTracker().getJobInfo(job)
            for stage in info.stageIds if info is not None else ():
                yield from self._texts_of(stage)

    def _texts_of(self, stage: int) -> Iterator[str]:
        info = self._context.statusTracker().getStageInfo(stage)
        if info is None or not info.numFailedTasks:
            return
        tasks = self._context._jsc.sc().statusStore().taskList(stage, info.currentAttemptId, _MOST_TASKS)
        for number in range(tasks.size()):
            text = tasks.apply(number).errorMessage()
            if text.isDefined():
                yield text.get()

    def _is_running(self, job: int) -> bool:
        info = self._context.statusTracker().getJobInfo(job)
        return info is not None and info.status == "RUNNING"

    def _new_jobs(self) -> list[int]:
        return [job for job in self._jobs() if job not in self._before]

    def _jobs(self) -> list[int]:
        return [] if self._context is None else list(self._context.statusTracker().getJobIdsForGroup(None))
