"""Every process that a replay needs is killed in the middle of one: it goes on by itself, each message copied once."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from tests.support.gantry import Gantry, Place
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.topics import orders
from tests.support.wait import wait_until

pytestmark = [pytest.mark.crash, pytest.mark.spark, pytest.mark.timeout(600)]

MESSAGES = 1200
PATIENCE = 240.0
# What does not depend on when a run was killed.
COUNTED = ("planned", "read", "filtered", "damaged", "matched", "written", "failed", "bytes")


@pytest.fixture(scope="module")
def gantry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gantry]:
    """All processes of `make up`, and their supervisor."""
    with Place.free(tmp_path_factory.mktemp("gantry") / "data").started() as running:
        yield running


class Replays:
    """Replays of one topic into new ones."""

    def __init__(self, gantry: Gantry, http: httpx.Client, session: BlockingSession) -> None:
        self.gantry, self.http, self.session = gantry, http, session
        make_topic(session, "orders")
        fill_topic(session, "orders", orders(MESSAGES))

    def start(self, target: str, rate: int | None) -> str:
        make_topic(self.session, target)
        request = {
            "type": "replay", "cluster": "local", "source": {"topic": "orders"}, "target": {"topic": target},
            "limits": {} if rate is None else {"messages_per_second": rate},
        }  # fmt: skip
        answer = self.http.post("/jobs", json=request)
        assert answer.status_code in (201, 202), answer.text
        return str(answer.json()["id"])

    def folder(self, job: str) -> Path:
        return self.gantry.data / "jobs" / job

    def written(self, job: str) -> int:
        """Return how many messages are written, as its progress file tells."""
        try:
            lines = (self.folder(job) / "progress.jsonl").read_bytes().splitlines()
        except FileNotFoundError:
            return 0
        return int(orjson.loads(lines[-1])["counters"]["written"]) if lines else 0

    def wait_for(self, job: str, written: int) -> None:
        wait_until(lambda: self.written(job) >= written, within=PATIENCE)

    def driver(self, job: str) -> int:
        """Return the process that does a job: its standard error is the log of the job."""
        log = (self.folder(job) / "log").resolve()
        (found,) = (pid for pid, command in processes() if b"programs.driver" in command and stderr(pid) == log)
        return found

    def running(self) -> dict[str, int]:
        """Return which process does each job that a worker runs, as the API tells."""
        workers = self.http.get("/job-workers").json()["items"]
        return {run["job_id"]: run["pid"] for worker in workers for run in worker["runs"]}

    def end(self, job: str) -> dict[str, Any]:
        """Wait until a job has ended; return it."""

        def ended() -> dict[str, Any] | None:
            # Only then: a hundred requests a second would slow down what they wait for.
            if not (self.folder(job) / "result.json").exists():
                return None
            try:
                found: dict[str, Any] = self.http.get(f"/jobs/{job}").json()
            except httpx.TransportError:
                return None
            return found if found.get("state") in ("succeeded", "partial", "failed", "cancelled") else None

        wait_until(lambda: ended() is not None, within=PATIENCE)
        whole = ended()
        assert whole is not None
        return whole

    def copies(self, target: str) -> Counter[bytes]:
        return Counter(each.body for queue in read_topic(self.session, target).values() for each in queue)


@pytest.fixture(scope="module")
def replays(gantry: Gantry) -> Iterator[Replays]:
    """A topic, and what an undisturbed replay of it counts."""
    config = ClientConfig(name_servers=(gantry.name_server,))
    with gantry.client() as http, BlockingSession(config) as session:
        yield Replays(gantry, http, session)


def processes() -> Iterator[tuple[int, bytes]]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            yield int(entry.name), (entry / "cmdline").read_bytes()
        except OSError:
            continue


def stderr(pid: int) -> Path | None:
    try:
        return Path(f"/proc/{pid}/fd/2").resolve()
    except OSError:
        return None


def parent_and_session(pid: int) -> tuple[int, int]:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    return int(fields[1]), int(fields[3])


def child(gantry: Gantry, *words: bytes) -> int:
    """Return a process that the supervisor has started, by words of its command line."""
    mine = (each for each in processes() if parent_and_session(each[0])[0] == gantry.process.pid)
    (found,) = (pid for pid, command in mine if all(word in command for word in words))
    return found


def java(driver: int) -> int:
    mine = (each for each in processes() if parent_and_session(each[0])[1] == driver)
    (found,) = (pid for pid, command in mine if command.partition(b"\0")[0].endswith(b"java"))
    return found


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def assert_as_undisturbed(replays: Replays, jobs: dict[str, dict[str, Any]]) -> None:
    undisturbed = replays.end(replays.start("undisturbed", None))
    for target, job in jobs.items():
        assert job["state"] == "succeeded", (job["state_reason"], (replays.folder(job["id"]) / "log").read_text())
        assert [job["counters"][name] for name in COUNTED] == [undisturbed["counters"][name] for name in COUNTED]
        copies = replays.copies(target)
        assert (len(copies), set(copies.values())) == (MESSAGES, {1}), target


def test_replays_go_on_after_every_process_was_killed(gantry: Gantry, replays: Replays) -> None:
    # Given two replays at once, one whose program and one whose JVM is killed in the middle
    # so slow that neither has ended when the other one has begun, on a loaded machine too
    program, jvm = replays.start("program-killed", 120), replays.start("jvm-killed", 80)
    replays.wait_for(jvm, 1)
    replays.wait_for(program, MESSAGES // 4)
    assert replays.running() == {job: replays.driver(job) for job in (program, jvm)}
    kill(replays.driver(program))
    replays.wait_for(jvm, MESSAGES // 4)
    kill(java(replays.driver(jvm)))
    jobs = {"program-killed": replays.end(program), "jvm-killed": replays.end(jvm)}
    assert [job["retries"] for job in jobs.values()] == [1, 1]
    assert "Spark's Java process has ended" in (replays.folder(jvm) / "log").read_text()
    # and one during which the broker, Redis and the Celery worker are killed, one after another
    others = replays.start("others-killed", 150)
    for part, words in enumerate(((b"broker_core",), (b"redis-server",), (b"celery", b"worker")), 1):
        replays.wait_for(others, MESSAGES * part // 4)
        kill(child(gantry, *words))
    jobs["others-killed"] = replays.end(others)
    # Then all have copied each message once, and count like one that nothing happened to
    assert_as_undisturbed(replays, jobs)
