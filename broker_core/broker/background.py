"""What a broker does on its own while it runs (broker/README.md#start-and-stop)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from broker_core.broker.components import Components
from broker_core.broker.housekeeping import Housekeeping, Step, repeat
from broker_core.broker.processors.composition import Processors
from broker_core.broker.processors.notifications import STEP_MS
from broker_core.broker.processors.parked import SLOT_MS
from broker_core.broker.saving import StateSaver

_CHECKPOINT_MS: Final = 60_000
_RETENTION_MS: Final = 10_000
_SECOND_MS: Final = 1_000


def steps_of(
    components: Components, processors: Processors, housekeeping: Housekeeping, saver: StateSaver
) -> Sequence[Step]:
    """Return the periodic steps."""
    periods = components.config.periods
    of_master = components.master_work.step
    return (
        Step("work of a master", SLOT_MS, components.master_work.look),
        Step("parked pulls", SLOT_MS, processors.pulls.expire),
        Step("leases", SLOT_MS, processors.pops.step),
        Step("notifications", STEP_MS, processors.notifications.step),
        Step("waiting sends", SLOT_MS, components.waits.expire),
        Step("delay", periods.delay_step, of_master(components.delay.step)),
        Step("timer", periods.timer_step, of_master(components.timer.step)),
        Step("timer: following", _SECOND_MS, components.timer.follow_along),
        Step("timer: records that would go", _SECOND_MS, of_master(components.timer.roll)),
        Step("timer: tidying", _CHECKPOINT_MS, of_master(components.timer.tidy)),
        Step("timer: file", _CHECKPOINT_MS, components.beside.timer_reads.checkpoint),
        Step("transactions", periods.transaction_step, of_master(components.checks.step)),
        Step("statistics", _SECOND_MS, components.stats.step),
        Step("saving", periods.save, lambda _now: saver.save()),
        Step("silent clients", periods.client_scan, processors.clients.expire),
        Step("queue locks", periods.client_scan, components.locks.expire),
        Step("retention", _RETENTION_MS, housekeeping.drop_expired),
        Step("damage", _SECOND_MS, housekeeping.log_damage),
        Step("checkpoint", _CHECKPOINT_MS, housekeeping.checkpoint),
    )


def begin(components: Components, steps: Sequence[Step]) -> asyncio.Task[None]:
    """Begin all background work; the task ends when it is cancelled, or when a part of it fails."""

    async def run() -> None:
        periods = components.config.periods
        async with asyncio.TaskGroup() as tasks:
            for step in steps:
                tasks.create_task(repeat(step, components.clock), name=step.name)
            tasks.create_task(components.durability.run(periods.flush), name="flush")
            tasks.create_task(components.rest.registration.run(periods.registration), name="registration")
            tasks.create_task(components.mode.run(), name="mode")
            if components.state_of_master is not None:
                tasks.create_task(components.state_of_master.run(), name="state of the master")

    return asyncio.get_running_loop().create_task(run(), name="broker")
