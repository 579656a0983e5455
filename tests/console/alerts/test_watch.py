"""Requirements of `console.alerts.watch` and `journal`: what rounds of the sampler leave in the database."""

from __future__ import annotations

import pytest
import redis
import redis.asyncio
from asgiref.sync import sync_to_async

from broker_core.protocol.topics import DEAD_LETTER_PREFIX
from console.alerts import now as now_module
from console.alerts.models import Alert, Rule
from console.alerts.watch import ClusterWatch
from console.lag.shapes import TopicState
from console.moments import rfc3339
from tests.console.alerts.conftest import rule
from tests.console.alerts.figures import broker, group, state
from tests.console.lag.figures import known

pytestmark = pytest.mark.django_db(transaction=True)
T = 1_700_000_000_000
arule = sync_to_async(rule)


async def alerts() -> list[tuple[str, str, str]]:
    """Return metric, subject and state of all alerts, the oldest first."""
    rows = Alert.objects.order_by("id").values_list("rule__metric", "subject", "state")
    return [row async for row in rows]


async def test_an_alert_pends_fires_and_resolves_with_its_times(watch: ClusterWatch) -> None:
    await arule()
    await watch.see(T, state(group("billing", 101), group("orders", 100)))
    assert await alerts() == [("group_lag", "billing", "pending")]
    await watch.see(T + 10_000, state(group("billing", 150), group("orders", 1)))
    assert await alerts() == [("group_lag", "billing", "firing")]
    await watch.see(T + 11_000, state(group("billing", 7)))
    found = await Alert.objects.aget()
    assert (found.state, found.fired_at, found.resolved_at) == ("resolved", T + 10_000, T + 11_000)
    assert [(each["state"], each["value"]) for each in found.changes] == [
        ("pending", 101), ("firing", 150), ("resolved", 7)
    ]  # fmt: skip


async def test_a_peak_that_was_too_short_leaves_no_trace(watch: ClusterWatch) -> None:
    await arule()
    await watch.see(T, state(group("billing", 101)))
    await watch.see(T + 5_000, state(group("billing", 1)))
    assert await alerts() == []


async def test_a_sampler_that_starts_again_goes_on_in_the_middle_of_pending(
    watch: ClusterWatch, store: redis.asyncio.Redis
) -> None:
    await arule()
    await watch.see(T, state(group("billing", 101)))
    await watch.see(T + 6_000, state(group("billing", 101)))
    # When another sampler takes over a moment later
    await ClusterWatch("local", store).see(T + 8_000, state(group("billing", 101)))
    assert await alerts() == [("group_lag", "billing", "pending")]
    # Then the time that was proven counts
    await ClusterWatch("local", store).see(T + 10_000, state(group("billing", 101)))
    assert await alerts() == [("group_lag", "billing", "firing")]


async def test_the_time_in_which_no_sampler_worked_proves_nothing(
    watch: ClusterWatch, store: redis.asyncio.Redis
) -> None:
    await arule()
    await watch.see(T, state(group("billing", 101)))
    later = ClusterWatch("local", store)
    await later.see(T + 60_000, state(group("billing", 101)))
    assert await alerts() == [("group_lag", "billing", "pending")]
    await later.see(T + 70_000, state(group("billing", 101)))
    assert await alerts() == [("group_lag", "billing", "firing")]


async def test_a_silent_cluster_is_no_data_and_never_resolved(watch: ClusterWatch) -> None:
    await arule(no_data_after_ms=5_000, for_ms=0)
    await watch.see(T, state(group("billing", 101), group("orders", 1)))
    for second in range(1, 8):
        await watch.see(T + second * 1_000, None)
    assert await alerts() == [("group_lag", "billing", "no_data"), ("group_lag", "orders", "no_data")]
    await watch.see(T + 9_000, state(group("billing", 200), group("orders", 1)))
    assert await alerts() == [("group_lag", "billing", "firing"), ("group_lag", "orders", "resolved")]


async def test_each_metric_reads_its_figure(watch: ClusterWatch) -> None:
    for metric, limit in {
        "group_time_lag_ms": 10.0, "group_in_rate": 2.0, "topic_in_rate": 2.0, "dead_letters": 3.0,
        "broker_disk_used": 0.9, "broker_silent": 0.0,
    }.items():  # fmt: skip
        await arule(name=metric, metric=metric, limit=limit, for_ms=0)
    await arule(name="out", metric="group_out_rate", direction="below", limit=0.5, for_ms=0)
    await watch.see(
        T,
        state(
            group("slow", 0, time_lag_ms=11),
            group("busy", 0, in_rate=3.0),
            group("stuck", 0, out_rate=0.0),
            topics=(
                TopicState(name="orders", in_rate=3.0, messages=9),
                TopicState(name=f"{DEAD_LETTER_PREFIX}billing", in_rate=0.0, messages=4),
            ),
            brokers=(broker(disk=0.95), broker("broker-b", reachable=False, disk=None)),
        ),
    )
    assert {found[:2] for found in await alerts() if found[2] == "firing"} == {
        ("group_time_lag_ms", "slow"), ("group_in_rate", "busy"), ("group_out_rate", "stuck"),
        ("topic_in_rate", "orders"), ("dead_letters", "billing"), ("broker_disk_used", "broker-a"),
        ("broker_silent", "broker-b"),
    }  # fmt: skip


async def test_a_rule_that_is_switched_off_ends_its_alerts(watch: ClusterWatch) -> None:
    kept = await arule(for_ms=0)
    await watch.see(T, state(group("billing", 101)))
    await Rule.objects.filter(pk=kept.pk).aupdate(enabled=False)
    await watch.see(T + 3_000, state(group("billing", 101)))
    assert await alerts() == [("group_lag", "billing", "resolved")]


async def test_an_open_alert_shows_its_value_and_in_an_outage_what_it_was(
    watch: ClusterWatch, redis_of_test: str
) -> None:
    kept = await arule(for_ms=0)
    await watch.see(T, state(group("billing", 101), group("orders", 500)))
    await watch.see(T + 5_000, state(group("billing", 102), group("orders", 7)))
    with redis.Redis.from_url(redis_of_test) as reader:
        now = now_module.read_open(reader, ["local"], T + 6_000)["local"][kept.pk]
        assert {name: shown.value for name, shown in now.items()} == {"billing": 102}
        # When the sampler falls silent, its figures are not those of now
        late = now_module.read_open(reader, ["local"], T + 40_000)["local"][kept.pk]["billing"]
        assert (late.value, known(late.last_known).value) == (None, 102)
        # And neither are they when the brokers do
        await watch.see(T + 10_000, None)
        await watch.see(T + 15_000, state(group("billing", None)))
        gone = now_module.read_open(reader, ["local"], T + 16_000)["local"][kept.pk]["billing"]
    assert (gone.value, known(gone.last_known)) == (None, late.last_known)
    assert known(gone.last_known).at == rfc3339(T + 5_000)
    # And after a while without figures there is no data
    await watch.see(T + 75_000, state(group("billing", None)))
    assert ("group_lag", "billing", "no_data") in await alerts()


async def test_pages_see_the_worst_subject_and_its_value(watch: ClusterWatch, redis_of_test: str) -> None:
    kept = await arule(cluster="loc*")
    await arule(name="elsewhere", cluster="harbour")
    await watch.see(T, state(group("billing", 7), group("orders", 9)))
    with redis.Redis.from_url(redis_of_test) as reader:
        found = now_module.read(reader, ["local"])
    assert [(shown.subjects, shown.worst, shown.value) for shown in found[kept.pk]] == [(2, "orders", 9)]
    assert list(found) == [kept.pk]
