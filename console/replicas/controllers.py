"""The controllers of a cluster: who leads, and how what keeps their decisions is."""

from __future__ import annotations

from typing import Final

from broker_core.client.admin.replication import ControllerStatus
from broker_core.client.answers import Answers
from broker_core.client.errors import NotSupported
from broker_core.clock import now_ms
from console.clusters.connections import ask
from console.clusters.reasons import reason_of
from console.moments import rfc3339
from console.replicas import history
from console.replicas.shapes import Controllers, ControllerState, EngineServer

ANSWER_MS: Final = 1_000
"""A frozen controller must not keep back what the others say."""


def controllers(cluster: str) -> Controllers:
    """Ask every name server; one that hosts no controller is left out, one that is silent is not."""
    answers = ask(cluster, lambda admin: admin.replication.controllers(timeout_ms=ANSWER_MS))
    return shown(answers, are_expected=bool(history.names(cluster)))


def shown(answers: Answers[ControllerStatus], *, are_expected: bool) -> Controllers:
    """Return what the name servers said of their controllers as the API shows it.

    Where all are silent nothing says that they host any, unless `are_expected`.
    """
    silent = {addr: error for addr, error in answers.failed.items() if not isinstance(error, NotSupported)}
    if not answers.found and not are_expected:
        silent = {}
    rows = [_shown(addr, status) for addr, status in answers.found.items()]
    rows += [_silent(addr, reason_of(error)) for addr, error in silent.items()]
    leader = next((each.address for each in rows if each.leading), None)
    return Controllers(leader=leader, controllers=sorted(rows, key=lambda each: each.address), at=rfc3339(now_ms()))


def _shown(address: str, status: ControllerStatus) -> ControllerState:
    info = status.info
    led_ms = info.led_ms if status.is_leading else None
    return ControllerState(
        address=address,
        reachable=True,
        reason=None,
        leading=status.is_leading,
        leading_ms=info.leading_ms if status.is_leading else None,
        led_since=None if led_ms is None else rfc3339(now_ms() - led_ms),
        engine=info.engine,
        engine_version=info.engine_version,
        members=[
            EngineServer(
                endpoint=each.endpoint,
                reached=each.reached,
                since=None if each.since is None else rfc3339(each.since),
            )
            for each in info.members
        ],
        revision=info.revision,
        size_bytes=info.size_bytes,
        quota_bytes=info.quota_bytes,
        alarms=info.alarms,
        last_decision_ms=None if info.last_decision_ms is None else round(info.last_decision_ms),
        names=info.names,
        set_back=info.set_back,
        unsettled=info.unsettled,
        age_ms=info.age_ms,
        conflicts=info.conflicts,
        unsettled_count=info.unsettled_count,
    )


def _silent(address: str, reason: str) -> ControllerState:
    return ControllerState(
        address=address,
        reachable=False,
        reason=reason,
        leading=False,
        leading_ms=None,
        led_since=None,
        engine=None,
        engine_version=None,
        members=[],
        revision=None,
        size_bytes=None,
        quota_bytes=None,
        alarms=None,
        last_decision_ms=None,
        names=[],
        set_back=[],
        unsettled=[],
        age_ms=None,
        conflicts=None,
        unsettled_count=None,
    )
