"""Alerts on replicas and controllers, with real ones: what happens to them fires, and names whom, and what to do."""

from __future__ import annotations

import dataclasses
from contextlib import aclosing, suppress
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async

from broker_core.client.admin import Admin
from broker_core.errors import GantryError
from console.alerts.advice import ADVICE
from console.alerts.alert_shapes import shape_of
from console.alerts.metrics import SUBJECTS
from console.alerts.models import Alert
from console.alerts.watch import ClusterWatch
from console.clusters.models import Cluster
from console.lag.reading import Reader
from console.lag.state import StateBuilder
from console.replicas.watch import ReplicaWatch
from tests.console.alerts.conftest import rule
from tests.console.lag.figures import InProcess
from tests.console.replicas.administered import administered
from tests.support.replica_group import replica_group
from tests.support.wait import eventually

pytestmark = pytest.mark.django_db(transaction=True)
AT = 1_777_622_400_000
OF_BROKERS = {
    "replicas_out_of_sync", "broker_without_master", "broker_refuses_sends", "broker_stuck", "elections_per_hour"
}  # fmt: skip
OF_CONTROLLERS = {"controllers_silent", "controllers_leaderless"}


class Rounds:
    """The rounds of a sampler, one a second."""

    def __init__(self, watch: ClusterWatch, admin: Admin) -> None:
        self._watch, self._admin = watch, admin
        self._replicas = ReplicaWatch("local")
        self._reader, self._states = Reader(admin, InProcess()), StateBuilder()
        self._now = AT

    async def aclose(self) -> None:
        """End what reads the brokers."""
        await self._reader.close()

    async def next(self) -> dict[str, str]:
        """Return the state of each open alert by its metric."""
        self._now += 1_000
        with suppress(GantryError):  # silence is what the figures tell
            await self._replicas.look(self._admin, self._now)
        seen = self._replicas
        shown = self._states.step(await self._reader.step(self._now))
        decided = dataclasses.replace(shown, decisions=seen.figures, controllers=seen.of_controllers)
        await self._watch.see(self._now, decided)
        rows = Alert.objects.exclude(state="resolved").values_list("rule__metric", "state")
        return dict([row async for row in rows])

    async def until(self, expected: dict[str, str]) -> None:
        """Go on until these alerts are open."""

        async def is_so() -> bool:
            return await self.next() == expected

        await eventually(is_so)


@sync_to_async
def rules() -> None:
    Cluster.objects.create(name="local", name_servers=["127.0.0.1:1"])
    for metric in OF_BROKERS | OF_CONTROLLERS:
        rule(name=metric, metric=metric, limit=0.0, for_ms=0, no_data_after_ms=5_000)


@sync_to_async
def told(metric: str) -> tuple[str, str | None]:
    shown = shape_of(Alert.objects.select_related("rule").filter(rule__metric=metric).latest("id"), [], AT)
    return shown.summary, shown.advice


async def test_what_happens_to_replicas_and_controllers_fires(watch: ClusterWatch, tmp_path: Path) -> None:
    await rules()
    async with (
        replica_group(tmp_path) as group,
        administered(group.name_server) as admin,
        aclosing(Rounds(watch, admin)) as rounds,
    ):
        await rounds.until({})
        await admin.replication.set_policy("b", min_in_sync=2)
        (number,) = (each for each in group.brokers if each not in group.masters())
        await group.stop(number)
        # A set does not shrink below min_in_sync: who is missing stays a member, and sends are refused.
        await rounds.until({"broker_refuses_sends": "firing"})
        await admin.replication.set_policy("b", min_in_sync=1)
        await rounds.until({"replicas_out_of_sync": "firing"})
        await group.start(number)
        await rounds.until({})
        await group.stop(group.masters()[0])
        await rounds.until({"replicas_out_of_sync": "firing", "elections_per_hour": "firing"})
        await group.stop(number)
        lost = dict.fromkeys(OF_BROKERS, "firing")
        await rounds.until(lost)
        summary, advice = await told("broker_stuck")
        assert summary == "broker_stuck is firing: b in local"
        assert advice is not None
        assert advice.startswith("Start the replica of b that has every acknowledged message")
    # When controllers are silent as well, what they decided stays open, and what was healthy is unknown
    async with administered(group.name_server) as admin, aclosing(Rounds(watch, admin)) as after:
        silent = dict.fromkeys(OF_BROKERS | OF_CONTROLLERS, "no_data") | {"controllers_silent": "firing"}
        await after.until(silent)


def test_every_alert_on_replicas_and_controllers_says_what_to_do() -> None:
    own = ("replica", "controller", "elections", "broker_without", "broker_refuses", "broker_stuck", "broker_set")
    assert {metric for metric in SUBJECTS if metric.startswith(own)} == set(ADVICE)
