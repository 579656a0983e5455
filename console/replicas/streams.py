"""Who copies the log of a broker name's master, as master and slaves themselves say (907)."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.answers import Answers
from broker_core.protocol.bodies.replicas import HaConnectionInfo, HaRuntimeInfo
from console.clusters.reasons import reason_of
from console.replicas.shapes import LogStream


def streams_of(
    master: BrokerAddress | None, copying: Answers[HaRuntimeInfo], silence: str | None
) -> tuple[Sequence[LogStream] | None, str | None]:
    """Return the streams of a master, None with the reason where it does not tell them, or `silence`."""
    if master is None or silence is not None:
        return None, silence
    told = copying.found.get(master.addr)
    if told is not None and told.master:
        return [_shown(each) for each in told.ha_connection_info], None
    if told is not None:
        return None, f"{master.name} at {master.addr} does not call itself master"
    error = copying.failed.get(master.addr)
    return None, None if error is None else reason_of(error, {master.addr: master.name})


def followed_by(told: HaRuntimeInfo | None) -> str | None:
    """Return the address of the master that a slave follows; None for a master, and where it tells none."""
    if told is None or told.ha_client_runtime_info is None:
        return None
    return told.ha_client_runtime_info.master_addr or None


def _shown(stream: HaConnectionInfo) -> LogStream:
    return LogStream(
        address=stream.addr,
        broker_id=stream.broker_id,
        acked=stream.slave_ack_offset,
        lacking_bytes=max(0, stream.diff),
        in_sync=stream.in_sync,
        bytes_per_second=stream.transferred_byte_in_second,
        from_offset=stream.transfer_from_where,
    )
