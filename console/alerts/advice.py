"""What to do about an alert, for those who hear of it away from the console (docs/replication.md has more). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_BEHIND: Final = "See which replica of {subject} is behind: its disk, its network, or maxHaTransferByteInSecond."
ADVICE: Final[Mapping[str, str]] = {
    "replica_lag_bytes": _BEHIND,
    "replica_lag_ms": _BEHIND,
    "replicas_out_of_sync": "Start the replica of {subject} that is missing, or wait until it has caught up; "
    "one that takes no part by itself is named, with what to do, on the page of {subject} and by "
    "`gantry brokers replicas {subject}`. "
    "Below min_in_sync sends are refused.",
    "replicas_unclean": "Keep the other replicas of {subject} running until the unclean one has copied "
    "what it may lack.",
    "broker_without_master": "Sends to {subject} are refused. Start its replicas and a controller; "
    "if it stays so, the page of the broker says why nobody is elected.",
    "broker_refuses_sends": "The page of {subject} says why it takes no sends. If too few replicas are in sync, start "
    "or add what is missing, or lower min_in_sync and minInSyncReplicas.",
    "broker_stuck": "Start the replica of {subject} that has every acknowledged message, or accept the loss "
    "on the page of the broker.",
    "broker_set_back": "Nothing is decided about {subject}: start all its replicas, or adopt a state on the page of "
    "the broker (docs/replication.md, Restore etcd).",
    "elections_per_hour": "{subject} has another master. See in its history why the old one was replaced, "
    "and whether it is back as a slave.",
    "controllers_silent": "Start the name servers of {subject} that do not answer: GET …/controllers names them.",
    "controllers_leaderless": "No master of {subject} is replaced until a controller leads: see whether controllers "
    "reach their engine, and whether replicas reach controllers: one that hears no replica does not lead.",
    "controller_engine_down": "Nothing can be decided in {subject}: bring a majority of etcd back, or clear its alarm.",
    "controller_engine_used": "Compact and defragment etcd of {subject}, or raise its quota, before it refuses writes.",
}


def advice_on(metric: str, subject: str) -> str | None:
    """Return what to do about the alert of a subject; None for metrics whose name says it all."""
    words = ADVICE.get(metric)
    return None if words is None else words.replace("{subject}", subject)
