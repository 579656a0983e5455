"""Brokers that had a topic and are in its route no longer: name servers drop a broker that is down.

Whoever asks only the brokers of a route takes the messages of such a broker for gone.
"""

from __future__ import annotations

import time
from typing import Final

from broker_core.client.routes import MASTER_ID, ListBrokers, Route, Routes
from broker_core.client.tasks import Tasks
from broker_core.errors import GantryError
from broker_core.logs import get_logger

_LOOK_SECONDS: Final = 1.0
"""How often the route of a topic is asked for while somebody uses it without one of its brokers."""
_FORGET_SECONDS: Final = 3_600.0
"""After so long a broker counts as taken away."""

_MOST_TOPICS: Final = 20_000

_log = get_logger(__name__)


class AbsentBrokers:
    """The absent brokers of the topics that one session uses."""

    def __init__(self, routes: Routes, tasks: Tasks, list_brokers: ListBrokers) -> None:
        self._routes = routes
        self._tasks = tasks
        self._list_brokers = list_brokers
        self._seen: dict[str, dict[str, float]] = {}
        """Topic → broker → when a route last had readable queues of it (s, monotonic)."""
        self._absent: dict[str, tuple[str, ...]] = {}
        self._looked_at: dict[str, float] = {}
        routes.on_route = self.note

    def note(self, route: Route) -> None:
        """Record which brokers a new or repeated route has."""
        if len(self._seen) >= _MOST_TOPICS:
            self._forget_all()
        now, masters = time.monotonic(), route.masters
        seen = self._seen.get(route.topic, {})
        seen = {name: at for name, at in seen.items() if now - at < _FORGET_SECONDS}
        seen |= {queue.broker_name: now for queue in route.read_queues if queue.broker_name in masters}
        self._seen[route.topic] = seen
        # One whose queues are not readable now is there.
        there = {queue.broker_name for queue in route.data.queue_datas} & masters.keys()
        self._absent[route.topic] = tuple(sorted(seen.keys() - there))

    def of(self, topic: str) -> tuple[str, ...]:
        """Return the names of a topic's absent brokers; while there are any, a newer route is soon asked for."""
        absent = self._absent.get(topic, ())
        if absent and time.monotonic() >= self._looked_at.get(topic, 0.0) + _LOOK_SECONDS:
            self._looked_at[topic] = time.monotonic()
            self._tasks.start(f"look for brokers of {topic}", self._look(topic))
        return absent

    async def _look(self, topic: str) -> None:
        try:
            # In this order: a broker that comes back announces itself together with its topics.
            brokers = await self._list_brokers()
            route = await self._routes.refresh(topic)
        except GantryError as error:  # the known route stays
            _log.info("topic=%s: its absent brokers cannot be looked for: %s", topic, error)
            return
        for broker in brokers:
            if broker.broker_name in self._absent.get(topic, ()) and MASTER_ID in broker.broker_addrs:
                self._seen[topic].pop(broker.broker_name)  # it is up, and has the topic no longer
        self.note(route)

    def _forget_all(self) -> None:
        """Make room; the next routes tell anew what is there."""
        self._seen.clear()
        self._absent.clear()
        self._looked_at.clear()
