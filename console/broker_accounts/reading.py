"""What the brokers of a cluster tell of their accounts, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.utils.crypto import salted_hmac

from broker_core.client.admin import Admin
from broker_core.client.admin.accounts import BrokerAccess
from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.answers import Answers
from broker_core.protocol.bodies.access import ClusterAccessConfig, PlainAccessConfig
from console.broker_accounts.errors import AccessControlOff, AccountsNotListed
from console.broker_accounts.shapes import (
    AccountFile,
    AccountRights,
    BrokerAccessControl,
    BrokerAccount,
    BrokerAccounts,
    GlobalAddresses,
)
from console.broker_accounts.tags import tag_of
from console.clusters.connections import NoBrokerListed, ask
from console.clusters.memory import RememberedBroker, remembered
from console.clusters.models import Cluster, ClusterKind
from console.clusters.reasons import reason_of
from console.clusters.services import address_of
from console.errors import NotKnown
from console.moments import rfc3339
from console.rows import row_of

HOW_OWN: Final = "start Gantry with GANTRY_ACL=on"
HOW_OTHER: Final = "set aclEnable=true in the broker's configuration file and restart it"
_BOTH_WAYS: Final = {"SUB|PUB": "PUB|SUB"}


@dataclass(frozen=True)
class Reading:
    """The answers of all brokers of a cluster."""

    cluster: str
    listed: Sequence[BrokerAddress]
    answers: Answers[BrokerAccess]
    missing: Sequence[RememberedBroker]
    """Known brokers that no name server lists."""
    own: str | None
    """The access key with which Gantry signs."""
    is_embedded: bool

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The title of each listed process, by address."""
        return {each.addr: each.name if each.is_master else f"{each.name} ({each.broker_id})" for each in self.listed}

    @cached_property
    def configs(self) -> Mapping[str, ClusterAccessConfig]:
        """What the processes list that do, by address, in the order of their names."""
        found = {addr: self.answers.found.get(addr) for addr in self.titles}
        return {addr: access.config for addr, access in found.items() if access is not None and access.config}

    @cached_property
    def accounts(self) -> Mapping[str, Mapping[str, PlainAccessConfig]]:
        """By access key: the account by address."""
        found: dict[str, dict[str, PlainAccessConfig]] = {}
        for addr, config in self.configs.items():
            for account in config.plain_access_configs:
                found.setdefault(account.access_key or "", {})[addr] = account
        return dict(sorted(found.items()))

    def digests(self, key: str) -> Mapping[str, str]:
        """Return the digest of an account's secret by address; those that do not tell it are left out."""
        there = self.accounts.get(key, {})
        return {addr: config.secret_digest for addr, config in there.items() if config.secret_digest is not None}

    def other_secrets(self, key: str) -> Sequence[str]:
        """Return the titles of the brokers whose secret of an account is not that of the first one."""
        digests = self.digests(key)
        first = next(iter(digests.values()), None)
        return [self.titles[addr] for addr, digest in digests.items() if digest != first]

    @cached_property
    def unknown(self) -> Sequence[str]:
        """The titles of the brokers of which nobody knows which accounts they have."""
        access = self.answers.found
        silent = [title for addr, title in self.titles.items() if addr not in access or _tells_nothing(access[addr])]
        return [*silent, *(broker.name for broker in self.missing)]

    @property
    def how(self) -> str:
        """How access control is switched on."""
        return HOW_OWN if self.is_embedded else HOW_OTHER

    def require_on(self) -> None:
        """Raise AccessControlOff if no broker has it on, or why none told."""
        if not self.titles:
            raise NoBrokerListed("the name servers list no broker")
        if not any(access.is_on for access in self.answers.found.values()):
            self.answers.raise_if_none()
            raise AccessControlOff(
                f"Access control is off: the brokers of {self.cluster!r} serve everybody and have no accounts. "
                f"To switch it on, {self.how}."
            )

    def require_listed(self) -> None:
        """Raise as `require_on`, and AccountsNotListed if no broker lists its accounts."""
        self.require_on()
        if self.configs:
            return
        for error in self.answers.failed.values():
            raise error
        raise AccountsNotListed(
            f"The brokers of {self.cluster!r} do not list their accounts; Gantry and RocketMQ before 4.9.8 do. They "
            "take changes: send the whole account with PATCH and If-Match: *, which creates or changes it, or DELETE."
        )


def read(cluster: str) -> Reading:
    """Ask every broker; raise what the client raises if no name server answers."""
    row = row_of(Cluster.objects.filter(name=cluster))
    known = remembered(cluster)
    credentials = address_of(row).credentials
    # Always the same, so that tags are, and known to no caller: tags then tell nothing of secrets.
    secret_nonce = salted_hmac("console.broker_accounts", cluster, algorithm="sha256").hexdigest()

    async def question(admin: Admin) -> tuple[Sequence[BrokerAddress], Answers[BrokerAccess]]:
        return await admin.clusters.brokers(), await admin.accounts.all(secret_nonce)

    listed, answers = ask(cluster, question)
    return Reading(
        cluster=cluster,
        listed=listed,
        answers=answers,
        missing=known.missing({each.name for each in listed}),
        own=None if credentials is None else credentials.access_key,
        is_embedded=row.kind == ClusterKind.EMBEDDED,
    )


def shown(found: Reading) -> BrokerAccounts:
    """Return all accounts, and what is known of each broker."""
    items = [account(found, key) for key in found.accounts]
    return BrokerAccounts(
        items=items,
        global_addresses=addresses(found) if found.configs else None,
        brokers=[*(_control(found, addr) for addr in found.titles), *map(_unlisted, found.missing)],
        is_embedded=found.is_embedded,
        differ=_differ(found, items),
    )


def account(found: Reading, key: str) -> BrokerAccount:
    """Return one account; raise NotKnown if no broker that lists its accounts has it."""
    by_address = found.accounts.get(key)
    if by_address is None:
        raise NotKnown(f"No broker of {found.cluster!r} has an account {key!r}.")
    rights = {addr: rights_of(config) for addr, config in by_address.items()}
    first = next(iter(rights.values()))
    tagged = {found.titles[addr]: rights.get(addr) for addr in found.configs}
    others, digests = found.other_secrets(key), found.digests(key)
    return BrokerAccount(
        access_key=key,
        is_own=key == found.own,
        missing_on=[title for title, each in tagged.items() if each is None],
        differs_on=[title for title, each in tagged.items() if each not in (None, first) or title in others],
        secret_differs_on=others,
        unknown_on=found.unknown,
        etag=tag_of({found.titles[addr]: [key, rights.get(addr), digests.get(addr)] for addr in found.configs}),
        **{name: getattr(first, name) for name in AccountRights.__struct_fields__},
    )


def addresses(found: Reading) -> GlobalAddresses:
    """Return the addresses that need no account, as the first broker that lists them has them."""
    by_title = {found.titles[addr]: _white(config) for addr, config in found.configs.items()}
    first = next(iter(by_title.values()), [])
    differing = [title for title, each in by_title.items() if sorted(each) != sorted(first)]
    return GlobalAddresses(
        global_white_addresses=first, differs_on=differing, unknown_on=found.unknown, etag=tag_of(by_title)
    )


def rights_of(config: PlainAccessConfig) -> AccountRights:
    """Return the rights of an account as the broker lists it."""
    return AccountRights(
        admin=config.admin,
        white_address=config.white_remote_address or "",
        default_topic_permission=_permission(config.default_topic_perm or "DENY"),
        default_group_permission=_permission(config.default_group_perm or "DENY"),
        topic_permissions=_permissions(config.topic_perms),
        group_permissions=_permissions(config.group_perms),
    )


def _permissions(texts: Sequence[str] | None) -> dict[str, str]:
    parts = (text.partition("=") for text in texts or ())
    return {name.strip(): _permission(right) for name, _, right in parts}


def _permission(text: str) -> str:
    text = text.strip()
    return _BOTH_WAYS.get(text, text)


def _white(config: ClusterAccessConfig) -> list[str]:
    # RocketMQ keeps an emptied list as one empty address, which is nobody's.
    return [text for text in config.global_white_addrs if text.strip()]


def _differ(found: Reading, accounts: Sequence[BrokerAccount]) -> bool | None:
    """Return whether brokers differ; None if those that tell are alike and some do not tell."""
    switches = {each.is_on for each in found.answers.found.values()}
    if len(switches) > 1 or any(each.missing_on or each.differs_on for each in accounts):
        return True
    if addresses(found).differs_on:
        return True
    return None if found.unknown else False


def _tells_nothing(access: BrokerAccess) -> bool:
    return access.is_on and not access.config


def _control(found: Reading, addr: str) -> BrokerAccessControl:
    title = found.titles[addr]
    access = found.answers.found.get(addr)
    if access is None:
        reason = reason_of(found.answers.failed[addr], {addr: title})
        return BrokerAccessControl(broker=title, address=addr, state="unknown", reason=reason, files=[])
    if not access.is_on:
        reason = f"{title} serves everybody; to switch access control on, {found.how}"
        return BrokerAccessControl(broker=title, address=addr, state="off", reason=reason, files=[])
    files = [
        AccountFile(
            file=file,
            changes=version.counter,
            changed_at=rfc3339(version.timestamp) if version.timestamp > 0 else None,
        )
        for file, version in sorted(access.versions.items())
    ]
    if access.config is None:
        reason = f"{title} does not list its accounts; Gantry and RocketMQ before 4.9.8 do"
        return BrokerAccessControl(broker=title, address=addr, state="unlisted", reason=reason, files=files)
    return BrokerAccessControl(broker=title, address=addr, state="on", reason=None, files=files)


def _unlisted(broker: RememberedBroker) -> BrokerAccessControl:
    reason = f"{broker.name} is not listed by any name server"
    return BrokerAccessControl(broker=broker.name, address=broker.address, state="unknown", reason=reason, files=[])
