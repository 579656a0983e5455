"""What the brokers of a cluster can do: asked from each of them, never derived from a version.

A request that a broker does not know is refused with code 3. So each ability with requests of its own is asked for by
one that changes nothing, and any other answer means yes. The other abilities are settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.errors import BrokerRefused, NotSupported
from broker_core.errors import GantryError
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.pop import BatchAckMessageRequestBody
from broker_core.protocol.headers.groups import GetAllProducerInfoRequest
from broker_core.protocol.headers.pop import BatchAckMessageRequest, PollingInfoRequest
from broker_core.protocol.headers.timers import SummarizeTimersRequest
from broker_core.protocol.headers.topics import GetTopicConfigRequest, PurgeTopicRequest
from broker_core.protocol.topics import BROWSING_GROUP, TRACE_TOPIC
from console.clusters.reasons import reason_of

AbilityName = Literal[
    "lease",
    "batch_ack",
    "timer",
    "scheduled",
    "transaction",
    "sql",
    "index",
    "message_type",
    "producers",
    "purge",
    "replicas",
]
AbilityState = Literal["yes", "partly", "no", "unknown"]
ABILITIES: Final[tuple[AbilityName, ...]] = get_args(AbilityName)
_PATIENCE_MS: Final = 3_000
_LEVELS: Final = "messageDelayLevel"


class Ability(Struct, frozen=True, kw_only=True):
    """Whether a cluster has an ability: `partly` if only some of its brokers have it, or if it is limited."""

    name: AbilityName
    state: AbilityState
    value: Annotated[
        str | None, Meta(description="How far: `any` delay or the number of delay levels; copies of each message.")
    ]
    reason: Annotated[str | None, Meta(description="Why it is not known.")]


@dataclass(frozen=True, slots=True)
class _Said:
    """What one broker said of an ability; None for what it did not say."""

    has: bool | None
    value: str | None = None
    reason: str | None = None


def unknown(reason: str) -> list[Ability]:
    """Return the abilities of a cluster of which nothing is known."""
    return [Ability(name=name, state="unknown", value=None, reason=reason) for name in ABILITIES]


async def abilities_of(admin: Admin) -> list[Ability]:
    """Ask all masters of the cluster; raise Unreachable if no name server answers."""
    brokers = await admin.clusters.brokers()
    masters = [broker for broker in brokers if broker.is_master]
    if not masters:
        return unknown("no name server lists a master")
    answers = await asyncio.gather(*(_asked(admin, broker) for broker in masters))
    found = [_merged(name, [answer[name] for answer in answers]) for name in ABILITIES if name != "replicas"]
    return [*found, _replicas(brokers)]


async def _asked(admin: Admin, broker: BrokerAddress) -> dict[AbilityName, _Said]:
    """Ask one broker."""
    polling = PollingInfoRequest(consumer_group=BROWSING_GROUP, topic=TRACE_TOPIC, queue_id=0)
    nothing = coder.encode(BatchAckMessageRequestBody(broker.name, []))
    asked: dict[AbilityName, Coroutine[None, None, _Said]] = {
        "lease": _knows(admin, broker, polling),
        "batch_ack": _knows(admin, broker, BatchAckMessageRequest(), nothing),
        "scheduled": _knows(admin, broker, SummarizeTimersRequest(0, 0, 1)),
        "message_type": _knows(admin, broker, GetTopicConfigRequest(TRACE_TOPIC)),
        "producers": _knows(admin, broker, GetAllProducerInfoRequest()),
        "purge": _knows(admin, broker, PurgeTopicRequest(topic="")),  # no topic has this name: it is refused
    }
    settings, said = await asyncio.gather(_settings(admin, broker), asyncio.gather(*asked.values()))
    found = dict(zip(asked, said, strict=True))
    for name, derive in _FROM_SETTINGS.items():
        found[name] = derive(settings) if isinstance(settings, dict) else _Said(None, reason=settings)
    return found


async def _settings(admin: Admin, broker: BrokerAddress) -> dict[str, str] | str:
    """Return the broker's settings, or why they are not known."""
    try:
        return await admin.maintenance.settings_of(broker.addr)
    except GantryError as error:
        return reason_of(error, {broker.addr: broker.name})


async def _knows(admin: Admin, broker: BrokerAddress, header: object, body: bytes = b"") -> _Said:
    """Return whether the broker knows a request."""
    try:
        await admin.clusters.try_request(broker.addr, header, body, timeout_ms=_PATIENCE_MS)
    except NotSupported:
        return _Said(False)
    except BrokerRefused:
        return _Said(True)
    except GantryError as error:
        return _Said(None, reason=reason_of(error, {broker.addr: broker.name}))
    return _Said(True)


def _switch(setting: str, having: str) -> Callable[[Mapping[str, str]], _Said]:
    def derive(settings: Mapping[str, str]) -> _Said:
        if setting not in settings:
            return _Said(None, reason=f"the broker does not report {setting}")
        return _Said(settings[setting].lower() == having)

    return derive


def _timer(settings: Mapping[str, str]) -> _Said:
    if settings.get("timerWheelEnable", "").lower() == "true":
        return _Said(True, "any")
    levels = settings.get(_LEVELS, "").split()
    return _Said(True, str(len(levels))) if levels else _Said(None, reason=f"the broker does not report {_LEVELS}")


_FROM_SETTINGS: Final[Mapping[AbilityName, Callable[[Mapping[str, str]], _Said]]] = {
    "timer": _timer,
    "transaction": _switch("rejectTransactionMessage", "false"),
    "sql": _switch("enablePropertyFilter", "true"),
    "index": _switch("messageIndexEnable", "true"),
}


def _merged(name: AbilityName, said: Sequence[_Said]) -> Ability:
    """Return the ability of the cluster from the answers of its brokers; one that is silent makes it unknown."""
    silent = next((each for each in said if each.has is None), None)
    if silent is not None:
        return Ability(name=name, state="unknown", value=None, reason=silent.reason)
    having = [each for each in said if each.has]
    if not having:
        return Ability(name=name, state="no", value=None, reason=None)
    values = sorted({each.value for each in having if each.value is not None})
    is_limited = name == "timer" and values != ["any"]
    state: AbilityState = "partly" if is_limited or len(having) < len(said) else "yes"
    return Ability(name=name, state=state, value=values[0] if values else None, reason=None)


def _replicas(brokers: Sequence[BrokerAddress]) -> Ability:
    """Return the smallest number of processes with one name, as the name servers list them."""
    names = [broker.name for broker in brokers]
    copies = min(names.count(name) for name in names)
    return Ability(name="replicas", state="yes" if copies > 1 else "no", value=str(copies), reason=None)
