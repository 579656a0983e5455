"""The main job of an installation as a story on one topic: leases, lag, search, replay and reconciliation."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.support.wait import wait_until

MESSAGES: Final = 3_000
_BATCH: Final = 500
_LOCAL: Final = "/clusters/local"
_FAULTS: Final = (
    "missing_left", "missing_right", "different", "duplicate_left", "duplicate_right", "duplicate"
)  # fmt: skip


class LagWatch:
    """What a subscriber of /ws/v1/lag received for one group, in order."""

    def __init__(self) -> None:
        self.seen: list[int | None] = []
        self.sequence: list[int] = []

    @property
    def last(self) -> int | None:
        return self.seen[-1] if self.seen else None


class Story:
    """The acts of the story on one topic; every name begins with the topic's."""

    def __init__(self, http: httpx.Client, live_url: str, topic: str, *, messages: int = MESSAGES) -> None:
        """Take a client of the API with a token, and the address of the WebSockets."""
        self.http, self.live_url, self.topic, self.messages = http, live_url, topic, messages
        self.group = f"{topic}-billing"
        self.copy = f"{topic}-copy"

    def run(self) -> None:
        for topic in (self.topic, self.copy):
            self.created(topic)
        self.a_lease_that_ran_out_is_delivered_again()
        with self.watching_lag() as watch:
            self.lag_rises(watch)
            self.lag_falls(watch)
        assert self.found(self.topic, f"{self.topic}-471")
        self.replay_copies_every_message()
        self.reconciliation_finds_nothing()
        self.reconciliation_finds_seven_planted_faults()

    def created(self, topic: str) -> None:
        answer = self.http.post(f"{_LOCAL}/topics", json={"name": topic, "read_queues": 4, "write_queues": 4})
        assert answer.status_code == 201, answer.text

    def a_lease_that_ran_out_is_delivered_again(self) -> None:
        self.produced(self.topic, [self.message(-1)])
        taken = self.received(lease_ms=1_000)
        assert [message["delivery_count"] for message in taken] == [1]
        again = self.received()
        assert [message["message_id"] for message in again] == [taken[0]["message_id"]]
        assert again[0]["delivery_count"] == 2
        self.acked(again)

    def lag_rises(self, watch: LagWatch) -> None:
        wait_until(lambda: watch.last == 0)
        for start in range(0, self.messages, _BATCH):
            self.produced(self.topic, [self.message(number) for number in range(start, start + _BATCH)])
        wait_until(lambda: watch.last == self.messages)
        assert any(lag is not None and lag > 0 for lag in watch.seen)

    def lag_falls(self, watch: LagWatch) -> None:
        keys: set[str] = set()
        while len(keys) < self.messages:
            messages = self.received()
            assert messages, f"only {len(keys)} of {self.messages} came"
            keys.update(message["keys"][0] for message in messages)
            self.acked(messages)
        wait_until(lambda: watch.last == 0)
        assert watch.sequence == sorted(watch.sequence)

    def replay_copies_every_message(self) -> None:
        job = self.done({"type": "replay", "source": {"topic": self.topic}, "target": {"topic": self.copy}})
        assert job["counters"]["written"] == self.messages + 1
        assert self.stored(self.copy) == self.stored(self.topic) == self.messages + 1

    def reconciliation_finds_nothing(self) -> None:
        tiles = self.tiles()
        assert tiles["matched"] == tiles["rows_left"] == tiles["rows_right"] == self.messages + 1
        assert {name: tiles[name] for name in _FAULTS} == dict.fromkeys(_FAULTS, 0)

    def reconciliation_finds_seven_planted_faults(self) -> None:
        only_left = [self.message(20_000), self.message(20_001)]
        only_right = [self.message(30_000), self.message(30_001), self.message(30_002)]
        different = self.message(40_000)
        changed = {**different, "body": {"encoding": "text", "data": "changed"}}
        second_copy = self.message(77)
        self.produced(self.topic, [*only_left, different])
        self.produced(self.copy, [*only_right, changed, second_copy])
        tiles = self.tiles()
        planted = {"missing_right": 2, "missing_left": 3, "different": 1, "duplicate_right": 1}
        assert {name: tiles[name] for name in _FAULTS} == {**dict.fromkeys(_FAULTS, 0), **planted}
        assert tiles["matched"] == self.messages

    # Helpers of the acts

    def message(self, number: int) -> dict[str, Any]:
        return {
            "keys": [f"{self.topic}-{number}"],
            "tag": "even" if number % 2 == 0 else "odd",
            "properties": {"number": str(number)},
            "body": {"encoding": "json", "data": {"id": f"{self.topic}-{number}", "amount": number}},
        }

    def produced(self, topic: str, messages: list[dict[str, Any]]) -> None:
        body = messages[0] if len(messages) == 1 else {"messages": messages}
        answer = self.http.post(f"{_LOCAL}/topics/{topic}/messages", json=body)
        assert answer.status_code == 201, answer.text

    def received(self, *, lease_ms: int = 30_000) -> list[dict[str, Any]]:
        body = {"max_messages": 32, "wait_ms": 10_000, "lease_ms": lease_ms}
        answer = self.http.post(f"{_LOCAL}/groups/{self.group}/topics/{self.topic}:receive", json=body)
        assert answer.status_code == 200, answer.text
        messages: list[dict[str, Any]] = answer.json()["messages"]
        return messages

    def acked(self, messages: list[dict[str, Any]]) -> None:
        receipts = [message["receipt"] for message in messages]
        answer = self.http.post(f"{_LOCAL}/groups/{self.group}/topics/{self.topic}:ack", json={"receipts": receipts})
        assert answer.status_code == 200, answer.text

    def stored(self, topic: str) -> int:
        answer = self.http.get(f"{_LOCAL}/topics/{topic}/queues")
        return sum(queue["count"] for queue in answer.json()["items"])

    def lag(self, group: str) -> int | None:
        lag: int | None = self.http.get(f"{_LOCAL}/groups/{group}").json()["lag"]
        return lag

    def found(self, topic: str, key: str) -> bool:
        answer = self.http.get(f"{_LOCAL}/messages:search", params={"topic": topic, "key": key}).json()
        assert answer["complete"], answer
        return answer["verdict"] == "match" and all(key in item["keys"] for item in answer["items"])

    def tiles(self) -> dict[str, int]:
        request = {"type": "reconcile", "left": {"topic": self.topic}, "right": {"topic": self.copy}, "by": "key"}
        job = self.done(request)
        tiles: dict[str, int] = self.http.get(f"/jobs/{job['id']}/report").json()["tiles"]
        return tiles

    def done(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post("/jobs", json=request)
        assert answer.status_code == 202, answer.text
        path = f"/jobs/{answer.json()['id']}"

        def ended() -> bool:
            return self.http.get(path).json()["state"] in ("succeeded", "partial", "failed", "cancelled")

        wait_until(ended, within=240)
        job: dict[str, Any] = self.http.get(path).json()
        assert job["state"] == "succeeded", f"{job}\n{self.http.get(path + '/log').json()['text']}"
        return job

    @contextmanager
    def watching_lag(self) -> Iterator[LagWatch]:
        watch = LagWatch()
        headers = {"Authorization": self.http.headers["Authorization"]}
        with connect(f"{self.live_url}/lag", additional_headers=headers, proxy=None) as socket:
            socket.send(json.dumps({"type": "watch", "groups": [self.group], "interval_ms": 1000}))
            reader = threading.Thread(target=self._read_lag, args=(socket, watch), daemon=True)
            reader.start()
            yield watch
        reader.join(5)

    def _read_lag(self, socket: Any, watch: LagWatch) -> None:
        try:
            for text in socket:
                frame = json.loads(text)
                if frame["type"] in ("snapshot", "delta"):
                    watch.sequence.append(frame["seq"])
                    watch.seen.extend(group["lag"] for group in frame["groups"] if group["group"] == self.group)
        except ConnectionClosed:
            return
