"""Joins the producer groups that have hooks, asks the hooks, and tells brokers the decisions.

It runs in the gateway's processes, of which the holder of a key in Redis does the work of all. The sampler, which works
the same way, knows neither the ids of transactions nor the shapes of messages (console does not know gateway), and a
Celery worker has no event loop on which a broker's question could arrive. A gateway has both, several of them replace
one another within seconds, and the connections with their accounts and TLS are open anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Final

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import Error as DatabaseError

from broker_core.client.members import Prepared
from broker_core.client.transactions import Decision
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.message import StoredMessage
from console.alerts import webhook
from console.alerts.outcome import Outcome
from console.leader import Leadership
from console.moments import rfc3339
from console.transaction_hooks import services
from console.transaction_hooks.services import ActiveHook
from console.transaction_hooks.shapes import HookOutcome
from gateway.data.parts import DataPlaneParts
from gateway.data.transactions import end_checked
from gateway.problems import ProblemError
from gateway.transaction_checks.member import HookMember
from gateway.transaction_checks.question import EVENT, WORDS, checks_of, delivery_of, question, understood
from gateway.transaction_ids import HalfPlace

LEADER_KEY: Final = "gantry:transaction-hooks:leader"
_EVERY_SECONDS: Final = 2.0

_log = logging.getLogger(__name__)


class TransactionChecks:
    """The members of one process: all of them in the process that leads, none in the others."""

    def __init__(self, parts: DataPlaneParts) -> None:
        self._parts = parts
        self._leadership = Leadership(parts.redis, LEADER_KEY)
        self._members: dict[str, HookMember] = {}
        self._last: dict[str, HookOutcome] = {}
        self._failures: dict[str, HookOutcome] = {}
        self._failed_before: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Follow the hooks until `stop`."""
        self._task = asyncio.create_task(self._run(), name="transaction checks")

    async def stop(self) -> None:
        """Leave all groups, and let another process take over."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for hook_id in list(self._members):
            await self._leave(hook_id)
        await self._write_outcomes()
        await self._leadership.step_down()

    async def _run(self) -> None:
        while True:
            try:
                await self._follow(await self._wanted())
                await self._write_outcomes()
                self._failed_before.discard("round")
            except Exception as error:  # noqa: BLE001 - the top of a task
                self._complain("round", f"a round failed: {error!r}")
            await asyncio.sleep(_EVERY_SECONDS)

    async def _wanted(self) -> dict[str, ActiveHook]:
        """Return the hooks to serve here; those served already while the database does not answer."""
        try:
            hooks = {hook.id: hook for hook in await sync_to_async(services.active, thread_sensitive=False)()}
        except DatabaseError as error:
            self._complain("database", f"the hooks cannot be read: {error}")
            return {hook_id: member.hook for hook_id, member in self._members.items()}
        self._failed_before.discard("database")
        if not hooks and not self._members:
            return hooks  # nobody needs to lead
        return hooks if await self._leadership.leads() else {}

    async def _follow(self, hooks: dict[str, ActiveHook]) -> None:
        for hook_id in self._members.keys() - hooks.keys():
            await self._leave(hook_id)
        for hook in hooks.values():
            try:
                await self._join(hook)
            except GantryError as error:
                self._complain(hook.id, f"cluster={hook.cluster} group={hook.group}: not joined: {error}")
            else:
                self._failed_before.discard(hook.id)

    async def _join(self, hook: ActiveHook) -> None:
        session = await self._parts.connections.session(hook.cluster)
        member = self._members.get(hook.id)
        if member is not None and member.session is session:
            member.hook = hook
            return
        if member is not None:
            await self._leave(hook.id)
        member = HookMember(session, hook, self._ask, self._refuse)
        await member.start()
        self._members[hook.id] = member

    async def _leave(self, hook_id: str) -> None:
        member = self._members.pop(hook_id)
        try:
            await member.close()
        except GantryError as error:  # the brokers notice by the heartbeats
            _log.warning("group=%s: not left: %s", member.group, error)

    def _complain(self, about: str, text: str) -> None:
        """Log what goes wrong once, not with every round."""
        if about not in self._failed_before:
            _log.warning("transaction hooks: %s", text)
        self._failed_before.add(about)

    # -- one check

    async def _ask(self, hook: ActiveHook, asked: StoredMessage, prepared: Prepared) -> bool:
        """Post one check; return whether the broker has the hook's decision."""
        began = time.monotonic()
        decision, failure, status = Decision.UNKNOWN, None, None
        try:
            place = await self._place(hook, asked, prepared)
            outcome = await self._post(hook, place, asked)
            status = outcome.status
            decision, failure = understood(outcome)
            if decision is not Decision.UNKNOWN:
                await end_checked(self._parts, place, decision)
        except ProblemError as problem:
            failure = f"the decision was not taken: {problem.detail}"
        except GantryError as error:
            failure = f"the broker was not told: {error}"
        self._note(hook, asked, prepared, decision, failure, status, began)
        return decision is not Decision.UNKNOWN and failure is None

    async def _place(self, hook: ActiveHook, asked: StoredMessage, prepared: Prepared) -> HalfPlace:
        name = prepared.broker_name
        if not name:  # Apache RocketMQ 4.9 does not say who asks
            admin = await self._parts.connections.admin(hook.cluster)
            name = (await admin.clusters.masters()).get(asked.store_host, "")
        return HalfPlace.of(hook.cluster, asked.topic, hook.group, prepared._replace(broker_name=name))

    async def _post(self, hook: ActiveHook, place: HalfPlace, asked: StoredMessage) -> Outcome:
        body = question(hook.id, self._parts.transaction_ids.seal(place), place, asked)
        posting = webhook.Posting(hook.url, hook.secrets, body, delivery_of(place, asked), EVENT)
        return await webhook.post(posting, settings.GANTRY_WEBHOOK_NETWORKS)

    def _refuse(self, hook: ActiveHook, asked: StoredMessage, prepared: Prepared, why: str) -> None:
        self._note(hook, asked, prepared, Decision.UNKNOWN, why, None, time.monotonic())

    def _note(
        self,
        hook: ActiveHook,
        asked: StoredMessage,
        prepared: Prepared,
        decision: Decision,
        failure: str | None,
        status: int | None,
        began: float,
    ) -> None:
        outcome = HookOutcome(
            at=rfc3339(now_ms()),
            decision=WORDS[decision],
            failure=failure,
            status=status,
            took_ms=round(1000 * (time.monotonic() - began)),
            message_id=prepared.message_id,
            topic=asked.topic,
            checks=checks_of(asked),
        )
        self._last[hook.id] = outcome
        if failure is not None or decision is Decision.UNKNOWN:
            self._failures[hook.id] = outcome

    async def _write_outcomes(self) -> None:
        """Write the newest outcomes, once for all checks of a round; kept for the next one if that fails."""
        last, failures = self._last, self._failures
        if not last:
            return
        self._last, self._failures = {}, {}
        try:
            await sync_to_async(services.keep_outcomes, thread_sensitive=False)(last, failures)
        except DatabaseError as error:
            self._complain("outcomes", f"what hooks answered was not written: {error}")
            self._last, self._failures = last | self._last, failures | self._failures
        else:
            self._failed_before.discard("outcomes")
