"""The Spark of a run: one of its own, or one that is kept for the next run (spark/README.md#warm-drivers)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from broker_core.job_folder import say
from broker_core.spark import session as sessions
from broker_core.spark.jvm import Jvm
from broker_core.spark.programs.failures import JAVA_GONE

# Reading programs have their tasks tried again; those that write refuse that themselves (`tasks.run_tasks`).
_MAX_FAILURES: Final = 4
_IDLE_WITHIN_S: Final = 1.0
_LOOK_S: Final = 0.02
# That of a local Spark.
_EXECUTOR: Final = "driver"
_STOPPED_WITHIN_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class SparkFacts:
    """Which Spark a run had."""

    java: str
    """The version of Java; empty if Spark runs elsewhere."""
    app_id: str


class SparkOfRun(Protocol):
    """Where a run gets its session from."""

    def start(self, config: sessions.SessionConfig) -> SparkSession:
        """Return a session for the run; raise what `session.start` raises."""

    def end(self) -> SparkFacts | None:
        """End what `start` began; None if the run had no Spark."""


class OneSpark:
    """Started for one run, and stopped with it."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._session: SparkSession | None = None

    def start(self, config: sessions.SessionConfig) -> SparkSession:
        """Start Spark."""
        self._session = sessions.start(config)
        return self._session

    def end(self) -> SparkFacts | None:
        """Stop Spark."""
        if self._session is None:
            return None
        try:
            facts = _facts(self._session)
            self._session.stop()
        except (Py4JNetworkError, ConnectionError) as error:
            # A killed Java process cannot answer or be stopped; the outcome of the run is already known.
            say(f"Spark could not be stopped properly: {JAVA_GONE} ({type(error).__name__})")
            return None
        return facts


class KeptSpark:
    """Started by the first run; each later one gets a new session of it, with settings and views of its own.

    A JVM that compiles quickly (`is_short`) is replaced for a run with much to do in Java; the other serves every run.
    """

    def __init__(
        self,
        folder: Path,
        starting: Callable[[Callable[[], SparkSession]], SparkSession],
        begun: Jvm | None = None,
    ) -> None:
        """`folder` is for Spark's temporary files; `starting` calls what starts Java, unless it has `begun`."""
        self._begun = begun
        self._folder, self._starting = folder, starting
        self._first: SparkSession | None = None
        self._is_used = self._has_failed = self._is_short = False

    def start(self, config: sessions.SessionConfig) -> SparkSession:
        """Return a new session; only the first run waits for Java."""
        self._is_used = True
        if self._first is not None and self._is_short and not config.is_short:
            # How it compiles is decided when it starts.
            sessions.stop_java(self._first, within_s=_STOPPED_WITHIN_S)
            self._first = None
        if self._first is None:
            kept = replace(config, app_name="gantry", work_dir=self._folder, max_failures=_MAX_FAILURES)
            self._has_failed, self._is_short = True, config.is_short
            begun, self._begun = self._begun, None
            self._first = self._starting(lambda: sessions.start(kept, begun))
            self._has_failed = False
            return self._first
        return sessions.another(self._first)

    def end(self) -> SparkFacts | None:
        """Cancel what the run left behind."""
        if not self._is_used or self._first is None:
            return None
        self._is_used = False
        try:
            self._first.sparkContext.cancelAllJobs()
            return _facts(self._first)
        except (Py4JError, ConnectionError):
            return None

    def is_idle(self) -> bool:
        """Return whether Spark answers and has nothing to do, now or within a second.

        Tasks may go on after their job was cancelled: they would keep their cores from the next run, and write to its
        log.
        """
        if self._first is None:
            return not self._has_failed
        until = time.monotonic() + _IDLE_WITHIN_S
        try:
            while _is_at_work(self._first.sparkContext):
                if time.monotonic() > until:
                    return False
                time.sleep(_LOOK_S)
        except (Py4JError, ConnectionError):
            return False
        return True


def _is_at_work(context: SparkContext) -> bool:
    if context.statusTracker().getActiveJobsIds():
        return True
    # Its tracker has no tasks whose job is cancelled. Before the first task no executor is listed.
    running = context._jsc.sc().taskScheduler().runningTasksByExecutors().get(_EXECUTOR)
    return bool(running.isDefined() and running.get() > 0)


def _facts(session: SparkSession) -> SparkFacts:
    if not hasattr(session, "_jsparkSession"):
        # Of a Spark Connect server its clients know only its version.
        return SparkFacts("", "")
    java = session.conf.get("spark.gantry.java.version", None) or ""
    return SparkFacts(java, session.sparkContext.applicationId)
