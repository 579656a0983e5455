"""Whether a master answers sends, from what it says of itself."""

from __future__ import annotations

from typing import Final

from broker_core.client.admin.clusters import BrokerRuntime

CLIENT_WAITS_MS: Final = 3_000
"""RocketMQ's clients, and the master itself, wait so long for the answer to a send (`slaveTimeout`)."""

NO_LEASE: Final = "the controllers are out of reach, and so is a replica of the in-sync set"
"""A master's words for a lease that ended (`Refusal` of broker_core/broker/replication/messages.py)."""


def why_no_sends(master: BrokerRuntime) -> str | None:
    """Return why a master takes no sends, or does not answer those that it stores; empty if it does.

    None of brokers that do not tell. While replicas of the set hang with their connections open, the master goes on
    storing and cannot confirm.
    """
    refusal, waited = master.send_refusal, master.unconfirmed_ms or 0
    if refusal == "" and waited > CLIENT_WAITS_MS:
        return f"sends are stored, but not confirmed: the oldest waits for {waited // 1000} s for the in-sync set"
    return refusal
