"""Changes of the accounts of a cluster: each goes to every broker, and is written to the audit without secrets."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from broker_core.client.admin import Admin
from broker_core.client.answers import Answers
from broker_core.errors import GantryError
from broker_core.protocol.bodies.access import PlainAccessConfig
from console.audit.record import Actor, record
from console.broker_accounts.errors import AccountsNotListed, OwnAccount
from console.broker_accounts.reading import Reading, account, addresses, rights_of
from console.broker_accounts.shapes import AccountRights
from console.clusters.connections import ask
from console.clusters.outcomes import BrokerAnswers, BrokerOutcome
from console.clusters.reasons import reason_of
from console.errors import AlreadyExists, Fault, NotServed
from console.shapes import as_json

Outcomes = tuple[BrokerOutcome, ...]


def new_secret() -> str:
    """Return a secret that nobody can guess."""
    return secrets.token_urlsafe(30)


def create(by: Actor, found: Reading, key: str, rights: AccountRights, secret: str) -> Outcomes:
    """Create an account on every broker; raise AlreadyExists if one has it, or as `Reading.require_listed`."""
    found.require_listed()
    if key in found.accounts:
        there = ", ".join(found.titles[addr] for addr in found.accounts[key])
        raise AlreadyExists(f"There is already an account {key!r} on {there}.")
    sent = {addr: _sent(key, rights, secret, None) for addr in found.titles}
    return _change(
        by, "account.create", f"{found.cluster}/accounts/{key}", found, lambda admin: admin.accounts.put_on(sent),
        after=as_json(rights),
    )  # fmt: skip


def change(by: Actor, found: Reading, key: str, given: Mapping[str, Any], secret: str | None) -> Outcomes:
    """Change what is given of an account, so that it is the same on every broker; without `secret` it stays.

    Where no broker lists accounts the account is what is given. Raises OwnAccount, NotKnown, and NotServed if the
    secret is needed: by a broker that lacks the account, or where nothing but secrets is to be made alike.
    """
    before = None
    if found.configs:
        before = rights_of(next(iter(_there(found, key).values())))
        rights = replace(before, **given)
    else:
        rights = _unseen(found, given)
    if key == found.own:
        _spare_own(found, before, rights, secret)
    if secret is None:
        _require_secret(found, key, others=() if given else found.other_secrets(key))
    present = found.accounts.get(key, {})
    sent = {addr: _sent(key, rights, secret, present.get(addr)) for addr in found.titles}
    replaced = {} if secret is None else {"secret_key": "replaced"}
    return _change(
        by, "account.update", f"{found.cluster}/accounts/{key}", found, lambda admin: admin.accounts.put_on(sent),
        before=None if before is None else as_json(before), after=as_json(rights) | replaced,
    )  # fmt: skip


def delete(by: Actor, found: Reading, key: str) -> Outcomes:
    """Delete an account on every broker that has it or does not tell; raise OwnAccount or NotKnown."""
    if key == found.own:
        raise OwnAccount(
            f"Gantry signs its requests to {found.cluster!r} with the account {key!r}; without it Gantry would be "
            "refused. Give Gantry another account first."
        )
    before = None if not found.configs else rights_of(next(iter(_there(found, key).values())))
    present = found.accounts.get(key, {})
    asked = [addr for addr in found.titles if addr in present or addr not in found.configs]
    return _change(
        by, "account.delete", f"{found.cluster}/accounts/{key}", found,
        lambda admin: admin.accounts.delete(key, addresses=asked), before=None if before is None else as_json(before),
    )  # fmt: skip


def put_addresses(by: Actor, found: Reading, patterns: Sequence[str]) -> Outcomes:
    """Replace the addresses that need no account; raise OwnAccount if only they let Gantry in."""
    if found.own is None:
        raise OwnAccount(
            f"Gantry signs its requests to {found.cluster!r} with no account: its address may be all that lets it in. "
            "Give Gantry an account for this cluster first."
        )
    before = {"addresses": list(addresses(found).global_white_addresses)} if found.configs else None
    return _change(
        by, "global_addresses.update", f"{found.cluster}/global-addresses", found,
        lambda admin: admin.accounts.put_global_white(patterns), before=before, after={"addresses": list(patterns)},
    )  # fmt: skip


def _there(found: Reading, key: str) -> Mapping[str, PlainAccessConfig]:
    account(found, key)  # raises NotKnown
    return found.accounts[key]


def _unseen(found: Reading, given: Mapping[str, Any]) -> AccountRights:
    """Return the rights of an account that nobody lists: they must be given whole, since 4.9 would reset the switch."""
    lacking = [name for name in AccountRights.__struct_fields__ if name not in given]
    if lacking:
        try:
            found.require_listed()
        except AccountsNotListed as error:
            words = f"{error.detail} Missing: {', '.join(lacking)}."
            raise NotServed([Fault(f"#/{name}", "REQUIRED", words) for name in lacking]) from error
    return AccountRights(**given)


def _spare_own(found: Reading, before: AccountRights | None, rights: AccountRights, secret: str | None) -> None:
    """Raise OwnAccount for a change after which brokers would refuse Gantry, or take others for it."""
    if not rights.admin:
        lost = "it would no longer be an administrator, and Gantry would be refused"
    elif secret is not None:
        lost = "its secret would be another one than Gantry has, and Gantry would be refused"
    elif _lists(rights) not in ([], [] if before is None else _lists(before)):
        lost = "the listed rights would be all that it may do, and Gantry would be refused"
    elif rights.white_address not in ("", "" if before is None else before.white_address):
        lost = "whoever is at its white address would be an administrator without signing"
    else:
        return
    raise OwnAccount(
        f"Gantry signs its requests to {found.cluster!r} with the account {found.own!r}: {lost}. "
        "Give Gantry another account first."
    )


def _lists(rights: AccountRights) -> list[tuple[str, str]]:
    return [*rights.topic_permissions.items(), *rights.group_permissions.items()]


def _require_secret(found: Reading, key: str, *, others: Sequence[str]) -> None:
    """Raise NotServed if a broker lacks the account or is one of `others`: no broker tells the secret to give them."""
    lacking = [found.titles[addr] for addr in found.configs if addr not in found.accounts.get(key, {})]
    words = [f"{', '.join(lacking)} lacks the account"] if lacking else []
    words += [f"{', '.join(others)} has another secret"] if others else []
    if words:
        needed = f"{' and '.join(words)}; give secret_key or new_secret, which count for all brokers."
        raise NotServed([Fault("#/secret_key", "REQUIRED", needed)])


def _sent(key: str, rights: AccountRights, secret: str | None, present: PlainAccessConfig | None) -> PlainAccessConfig:
    """Return what one broker is sent. RocketMQ refuses empty lists of rights, so they are sent only to empty one."""
    topics = [f"{name}={right}" for name, right in rights.topic_permissions.items()]
    groups = [f"{name}={right}" for name, right in rights.group_permissions.items()]
    return PlainAccessConfig(
        access_key=key,
        # RocketMQ before 4.9.8 tells the secret, and wants it again with each change.
        secret_key=secret if secret is not None or present is None else present.secret_key,
        white_remote_address=rights.white_address,
        admin=rights.admin,
        default_topic_perm=rights.default_topic_permission,
        default_group_perm=rights.default_group_permission,
        topic_perms=topics if topics or (present is not None and present.topic_perms) else None,
        group_perms=groups if groups or (present is not None and present.group_perms) else None,
    )


def _change(
    by: Actor,
    action: str,
    resource: str,
    found: Reading,
    act: Callable[[Admin], Any],
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> Outcomes:
    found.require_on()

    async def question(admin: Admin) -> Answers[None]:
        answers: Answers[None] = await act(admin)
        return answers

    try:
        answers = ask(found.cluster, question)
        outcomes = BrokerAnswers(found.titles, answers, missing=found.missing).outcomes()
    except GantryError as error:
        record(by, action, resource, result="failed", before=before, after={"error": reason_of(error, found.titles)})
        raise
    is_whole = all(outcome.done for outcome in outcomes)
    partly = after if is_whole else {**(after or {}), "brokers": as_json(outcomes)}
    record(by, action, resource, result="ok" if is_whole else "partial", before=before, after=partly)
    return outcomes
