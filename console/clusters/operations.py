"""Changes of the topics and groups of a cluster; each one is written to the audit, including refused ones.

A change applies to every known broker. Each function returns the outcome on each of them, and raises the first failure
if no broker made the change. Repeating a change applies it to the brokers that have not made it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import Group
from broker_core.client.admin.topics import Topic, TopicChange
from broker_core.client.answers import Answers
from broker_core.client.errors import NoMaster, TopicNotFound
from broker_core.errors import GantryError
from broker_core.protocol.bodies import TopicConfig
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from broker_core.protocol.topic_attributes import message_type_of
from console.audit.record import Actor, record
from console.clusters import memory
from console.clusters.connections import ask
from console.clusters.memory import remembered
from console.clusters.outcomes import BrokerAnswers, BrokerOutcome, unlisted
from console.clusters.reasons import reason_of
from console.errors import AlreadyExists
from console.notes import services as notes
from console.shapes import as_json

C = TypeVar("C")
Outcomes = tuple[BrokerOutcome, ...]


def create_topic(by: Actor, cluster: str, name: str, settings: Mapping[str, Any]) -> Outcomes:
    """Create a topic on every broker that lacks it; raise AlreadyExists if none lacks it or its settings differ."""
    what = f"Topic {name!r}"
    known = remembered(cluster)

    async def change(admin: Admin) -> BrokerAnswers:
        masters, listed = await _brokers(admin)
        missing = unlisted(known, listed)
        held = {broker.name for broker in missing if broker.holds(name)}
        had_it = _holders(what, masters, await _topic_configs(admin, name), lambda each: _as_wanted(each, settings))
        _refuse_if_everywhere(what, had_it | held, {*listed, *known.brokers})
        answers = await _reached(admin.topics.create(name, **settings, brokers=listed - had_it))
        return BrokerAnswers(masters, answers, had_it, missing)

    outcomes = _change(
        by, "topic.create", f"{cluster}/topics/{name}", lambda: ask(cluster, change).outcomes(), after=settings
    )
    counts = memory.QueueCounts(
        settings["read_queues"],
        settings["write_queues"],
        settings.get("perm", PERM_READ | PERM_WRITE),
        message_type=settings.get("message_type"),
    )
    memory.note_topic(cluster, name, [each.broker for each in outcomes if each.done], counts)
    return outcomes


def change_topic(by: Actor, cluster: str, topic: Topic, settings: Mapping[str, Any]) -> Outcomes:
    """Change the given settings of a topic on each broker that has it."""
    before = _settings(topic)
    known = remembered(cluster)

    async def change(admin: Admin) -> BrokerAnswers:
        masters, listed = await _brokers(admin)
        missing = [broker for broker in unlisted(known, listed) if broker.holds(topic.name)]
        is_listed = not topic.configs.keys().isdisjoint(listed)
        answers = await _reached(admin.topics.update(topic.name, **settings)) if is_listed else Answers[None]()
        return BrokerAnswers(masters, answers, missing=missing)

    return _change(
        by,
        "topic.update",
        f"{cluster}/topics/{topic.name}",
        lambda: ask(cluster, change).outcomes(),
        before=before,
        after={**before, **settings},
    )


def change_queues(
    by: Actor, cluster: str, topic: Topic, changes: Mapping[str, TopicChange], *, action: str = "topic.update"
) -> Outcomes:
    """Change a topic on the brokers with these names, each as given; the others stay. The audit calls it `action`."""
    known = remembered(cluster)

    async def change(admin: Admin) -> BrokerAnswers:
        masters, listed = await _brokers(admin)
        missing = [broker for broker in unlisted(known, listed) if broker.name in changes]
        is_listed = not changes.keys().isdisjoint(listed)
        answers = await _reached(admin.topics.update_on(topic.name, changes)) if is_listed else Answers[None]()
        return BrokerAnswers(masters, answers, missing=missing)

    return _change(
        by,
        action,
        f"{cluster}/topics/{topic.name}",
        lambda: ask(cluster, change).outcomes(),
        before={broker: _settings(replace(topic, configs={broker: topic.configs[broker]})) for broker in changes},
        after={broker: _given(change) for broker, change in changes.items()},
    )


def purge_topic(by: Actor, cluster: str, topic: str, before: Mapping[str, Mapping[int, int]]) -> Outcomes:
    """Make the messages before a queue offset unreadable, by broker name and queue id; the offsets go on."""

    async def change(admin: Admin) -> BrokerAnswers:
        masters, listed = await _brokers(admin)
        missing = [broker for broker in unlisted(known, listed) if broker.name in before]
        there = {broker: places for broker, places in before.items() if broker in listed}
        answers = await _reached(admin.topics.purge(topic, there))
        done = Answers[None](dict.fromkeys(answers.found), answers.failed)
        return BrokerAnswers(masters, done, missing=missing)

    known = remembered(cluster)
    purged = {f"{broker}/{queue}": at for broker, queues in before.items() for queue, at in queues.items()}
    return _change(
        by,
        "topic.purge",
        f"{cluster}/topics/{topic}",
        lambda: ask(cluster, change).outcomes(),
        after={"begins": purged},
    )


def delete_topic(by: Actor, cluster: str, topic: Topic) -> Outcomes:
    """Delete a topic and its messages on each broker that has it."""
    known = remembered(cluster)

    async def change(admin: Admin) -> BrokerAnswers:
        masters, listed = await _brokers(admin)
        missing = [broker for broker in unlisted(known, listed) if broker.holds(topic.name)]
        answers = await _reached(admin.topics.delete(topic.name, brokers=listed & topic.configs.keys()))
        return BrokerAnswers(masters, answers, missing=missing)

    outcomes = _change(
        by,
        "topic.delete",
        f"{cluster}/topics/{topic.name}",
        lambda: ask(cluster, change).outcomes(),
        before=_settings(topic),
    )
    memory.forget_topic(cluster, topic.name, [each.broker for each in outcomes if each.done])
    if all(each.done for each in outcomes):
        notes.forget(cluster, topic.name)
    return outcomes


def create_group(by: Actor, cluster: str, name: str, settings: Mapping[str, Any]) -> Outcomes:
    """Create a consumer group on every broker that lacks it; raise AlreadyExists as `create_topic` does."""
    what = f"Consumer group {name!r}"
    known = remembered(cluster)

    async def change(admin: Admin) -> BrokerAnswers:
        masters, answers = await _groups(admin)
        listed = (await _brokers(admin))[1]
        found = answers.raise_if_none().found.get(name, Group(name))
        if found.topics and not found.configs:
            raise AlreadyExists(f"{what} already consumes, without its own settings.")
        held = {broker.name for broker in known.missing(_answering(masters, answers)) if name in broker.groups}
        had_it = _holders(what, masters, found.configs, lambda each: _has(each, settings))
        _refuse_if_everywhere(what, had_it | held, {*listed, *known.brokers})
        created = await _reached(admin.groups.create(name, **settings, brokers=listed - had_it))
        return BrokerAnswers(masters, created, had_it, unlisted(known, listed))

    return _change(
        by, "group.create", f"{cluster}/groups/{name}", lambda: ask(cluster, change).outcomes(), after=settings
    )


def change_group(by: Actor, cluster: str, group: Group, settings: Mapping[str, Any]) -> Outcomes:
    """Change the given settings of a consumer group on every broker; the others stay."""
    before = _group_settings(group)
    after = {**before, **settings}
    known = remembered(cluster)

    async def change(admin: Admin) -> BrokerAnswers:
        masters, listed = await _brokers(admin)
        answers = await _reached(admin.groups.create(group.name, **after, brokers=listed))
        return BrokerAnswers(masters, answers, missing=unlisted(known, listed))

    return _change(
        by,
        _group_action(settings),
        f"{cluster}/groups/{group.name}",
        lambda: ask(cluster, change).outcomes(),
        before=before,
        after=after,
    )


def delete_group(by: Actor, cluster: str, group: Group) -> Outcomes:
    """Delete a group's settings and offsets on every broker."""
    known = remembered(cluster)

    async def change(admin: Admin) -> BrokerAnswers:
        masters, listed = await _brokers(admin)
        missing = [broker for broker in unlisted(known, listed) if group.name in broker.groups]
        return BrokerAnswers(masters, await _reached(admin.groups.delete(group.name)), missing=missing)

    outcomes = _change(
        by,
        "group.delete",
        f"{cluster}/groups/{group.name}",
        lambda: ask(cluster, change).outcomes(),
        before=_group_settings(group),
    )
    memory.forget_group(cluster, group.name, [each.broker for each in outcomes if each.done])
    return outcomes


def find_topic(cluster: str, name: str) -> Topic:
    """Return a topic as the name servers know it; raise TopicNotFound."""

    async def question(admin: Admin) -> Topic:
        return await admin.topics.get(name)

    return ask(cluster, question)


def find_group(cluster: str, name: str) -> Group | None:
    """Return a group as its brokers report it; without settings if only brokers that do not answer have it.

    Returns None if no broker has it, and raises if no broker answers."""
    masters, answers = ask(cluster, _groups)
    found = answers.found.get(name)
    silent = remembered(cluster).missing(_answering(masters, answers))
    if found is None and any(name in broker.groups for broker in silent):
        return Group(name)
    answers.raise_if_none()
    return found


async def _brokers(admin: Admin) -> tuple[dict[str, str], set[str]]:
    """Return address → name of every master, and the names of all listed brokers, with or without a master."""
    brokers = await admin.clusters.brokers_now()
    return {each.addr: each.name for each in brokers if each.is_master}, {each.name for each in brokers}


async def _reached(change: Awaitable[Answers[C]]) -> Answers[C]:
    """Return the answers to a change; where none of its brokers has a master, it failed on each of them."""
    try:
        return await change
    except NoMaster as error:
        return Answers({}, {name: NoMaster(name) for name in error.broker_names})


async def _topic_configs(admin: Admin, name: str) -> dict[str, TopicConfig]:
    try:
        return (await admin.topics.described(name)).configs
    except TopicNotFound:
        return {}


async def _groups(admin: Admin) -> tuple[dict[str, str], Answers[Group]]:
    return await admin.clusters.masters(), await admin.groups.list()


def _answering(masters: Mapping[str, str], answers: Answers[Group]) -> set[str]:
    return {broker for addr, broker in masters.items() if addr not in answers.failed}


def _settings(topic: Topic) -> dict[str, int]:
    return {"read_queues": topic.read_queues, "write_queues": topic.write_queues, "perm": topic.perm}


def _given(change: TopicChange) -> dict[str, int]:
    return {name: value for name, value in asdict(change).items() if value is not None}


def _as_wanted(config: TopicConfig, settings: Mapping[str, Any]) -> bool:
    perm = config.perm & (PERM_READ | PERM_WRITE)
    found: dict[str, object] = {
        "read_queues": config.read_queue_nums,
        "write_queues": config.write_queue_nums,
        "perm": perm,
        "message_type": message_type_of(config.attributes),
    }
    return all(found[name] == value for name, value in settings.items())


def _has(config: SubscriptionGroupConfig, settings: Mapping[str, Any]) -> bool:
    return all(getattr(config, name) == value for name, value in settings.items())


def _group_action(settings: Mapping[str, Any]) -> str:
    """Return what the audit calls a change of these settings."""
    if settings.keys() != {"consume_enable"}:
        return "group.update"
    return "group.resume" if settings["consume_enable"] else "group.pause"


def _group_settings(group: Group) -> dict[str, int]:
    """Return the settings under the client's names; empty for a group that was not configured."""
    config = group.config
    if config is None:
        return {}
    return {
        "retry_max_times": config.retry_max_times,
        "retry_queue_nums": config.retry_queue_nums,
        "consume_enable": config.consume_enable,
        "consume_broadcast_enable": config.consume_broadcast_enable,
    }


def _holders(
    what: str, masters: Mapping[str, str], configs: Mapping[str, C], is_wanted: Callable[[C], bool]
) -> set[str]:
    """Return the listed brokers that have it with these settings; raise AlreadyExists if one has other settings."""
    there = {broker: configs[broker] for broker in masters.values() if broker in configs}
    other = sorted(broker for broker, config in there.items() if not is_wanted(config))
    if other:
        raise AlreadyExists(f"{what} already exists with other settings on {', '.join(other)}.")
    return set(there)


def _refuse_if_everywhere(what: str, there: Collection[str], known: Collection[str]) -> None:
    if there and set(known) <= set(there):
        raise AlreadyExists(f"{what} already exists.")


def _change(
    by: Actor,
    action: str,
    resource: str,
    act: Callable[[], Outcomes],
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> Outcomes:
    try:
        outcomes = act()
    except GantryError as error:
        record(by, action, resource, result="failed", before=before, after={"error": reason_of(error)})
        raise
    if all(outcome.done for outcome in outcomes):
        record(by, action, resource, before=before, after=after)
    else:
        partly = {**(after or {}), "brokers": as_json(outcomes)}
        record(by, action, resource, result="partial", before=before, after=partly)
    return outcomes
