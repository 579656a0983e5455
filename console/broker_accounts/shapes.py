"""The shapes of the accounts of brokers. None holds a secret but the answer that made one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from console.clusters.outcomes import BrokerOutcome
from console.moments import Moment

AccessState = Literal["on", "off", "unlisted", "unknown"]


class AccountFile(Struct, frozen=True, kw_only=True):
    """An account file of a broker."""

    file: Annotated[str, Meta(description="Its path on the broker's machine.")]
    changes: Annotated[int, Meta(description="How often the broker changed it.")]
    changed_at: Moment | None


class BrokerAccessControl(Struct, frozen=True, kw_only=True):
    """Access control of one broker process."""

    broker: Annotated[str, Meta(description="A slave has its id behind its name: `broker-a (1)`.")]
    address: str
    state: Annotated[
        AccessState,
        Meta(
            description="off: everybody is served. unlisted: it takes changes and lists nothing, as RocketMQ 4.9.8. "
            "unknown: it did not answer, or refused."
        ),
    ]
    reason: Annotated[str | None, Meta(description="Why nothing is known, or how to switch access control on.")]
    files: Sequence[AccountFile]


class AccountRights(Struct, frozen=True, kw_only=True):
    """What an account may do. A right is DENY, PUB, SUB or PUB|SUB."""

    admin: Annotated[bool, Meta(description="May change brokers; without listed rights it may do everything.")]
    white_address: Annotated[str, Meta(description="From here the account needs no signature and no right.")]
    default_topic_permission: str
    default_group_permission: str
    topic_permissions: Annotated[dict[str, str], Meta(description="The right by topic, instead of the default.")]
    group_permissions: Annotated[dict[str, str], Meta(description="The right by consumer group.")]


class BrokerAccount(AccountRights, frozen=True, kw_only=True):
    """An account as the first broker that has it lists it."""

    access_key: str
    is_own: Annotated[bool, Meta(description="Gantry signs its own requests with it.")]
    missing_on: Annotated[Sequence[str], Meta(description="Brokers that list their accounts without this one.")]
    differs_on: Annotated[Sequence[str], Meta(description="Brokers that have it with other rights or another secret.")]
    secret_differs_on: Annotated[Sequence[str], Meta(description="Those of them whose secret is another one.")]
    unknown_on: Annotated[Sequence[str], Meta(description="Brokers that do not tell whether they have it.")]
    etag: Annotated[str, Meta(description="For If-Match: brokers that are silent in one of two readings do not count.")]


class GlobalAddresses(Struct, frozen=True, kw_only=True):
    """The addresses that need no account."""

    global_white_addresses: Sequence[str]
    differs_on: Annotated[Sequence[str], Meta(description="Brokers that have others.")]
    unknown_on: Annotated[Sequence[str], Meta(description="Brokers that do not tell theirs.")]
    etag: str


class BrokerAccounts(Struct, frozen=True, kw_only=True):
    """The accounts of a cluster."""

    items: Sequence[BrokerAccount]
    global_addresses: Annotated[GlobalAddresses | None, Meta(description="Null if no broker lists them.")]
    brokers: Sequence[BrokerAccessControl]
    is_embedded: Annotated[bool, Meta(description="The brokers are Gantry's own: GANTRY_ACL=on switches it on.")]
    differ: Annotated[bool | None, Meta(description="Whether brokers differ; null if some do not tell.")]


class BrokerAccountChanged(BrokerAccount, frozen=True, kw_only=True):
    """An account after a change, with the outcome on each broker."""

    secret_key: Annotated[
        str | None, Meta(description="A secret that was made now. It is shown in this answer and never again.")
    ]
    brokers: Sequence[BrokerOutcome]


class GlobalAddressesChanged(GlobalAddresses, frozen=True, kw_only=True):
    """The addresses after a change, with the outcome on each broker."""

    brokers: Sequence[BrokerOutcome]
