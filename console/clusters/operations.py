"""Changes inside a cluster - its topics and groups - each written into the audit, refused ones too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import Group
from broker_core.client.admin.topics import Topic
from broker_core.client.answers import Answers
from broker_core.errors import GantryError
from console.audit.record import Actor, record
from console.clusters.connections import ask


def create_topic(by: Actor, cluster: str, name: str, settings: Mapping[str, Any]) -> None:
    """Create a topic on every broker; raise what the brokers answer."""
    _change(
        by,
        "topic.create",
        f"{cluster}/topics/{name}",
        lambda: ask(cluster, lambda admin: _all_did(admin.topics.create(name, **settings))),
        after=settings,
    )


def change_topic(by: Actor, cluster: str, topic: Topic, settings: Mapping[str, Any]) -> None:
    """Change what `settings` names of a topic."""
    before = _settings(topic)
    _change(
        by,
        "topic.update",
        f"{cluster}/topics/{topic.name}",
        lambda: ask(cluster, lambda admin: _all_did(admin.topics.update(topic.name, **settings))),
        before=before,
        after={**before, **settings},
    )


def delete_topic(by: Actor, cluster: str, topic: Topic) -> None:
    """Delete a topic and its messages everywhere."""
    _change(
        by,
        "topic.delete",
        f"{cluster}/topics/{topic.name}",
        lambda: ask(cluster, lambda admin: _all_did(admin.topics.delete(topic.name))),
        before=_settings(topic),
    )


def create_group(by: Actor, cluster: str, name: str, settings: Mapping[str, Any]) -> None:
    """Create a consumer group on every broker, or replace its settings."""
    _change(
        by,
        "group.create",
        f"{cluster}/groups/{name}",
        lambda: ask(cluster, lambda admin: _all_did(admin.groups.create(name, **settings))),
        after=settings,
    )


def change_group(by: Actor, cluster: str, group: Group, settings: Mapping[str, Any]) -> None:
    """Change what `settings` names of a consumer group, and keep the rest."""
    before = _group_settings(group)
    after = {**before, **settings}
    _change(
        by,
        "group.update",
        f"{cluster}/groups/{group.name}",
        lambda: ask(cluster, lambda admin: _all_did(admin.groups.create(group.name, **after))),
        before=before,
        after=after,
    )


def delete_group(by: Actor, cluster: str, group: Group) -> None:
    """Delete a group's settings and offsets everywhere."""
    _change(
        by,
        "group.delete",
        f"{cluster}/groups/{group.name}",
        lambda: ask(cluster, lambda admin: _all_did(admin.groups.delete(group.name))),
        before=_group_settings(group),
    )


def find_topic(cluster: str, name: str) -> Topic:
    """Return a topic as the name servers know it; raise TopicNotFound."""

    async def question(admin: Admin) -> Topic:
        return await admin.topics.get(name)

    return ask(cluster, question)


def _settings(topic: Topic) -> dict[str, Any]:
    return {"read_queues": topic.read_queues, "write_queues": topic.write_queues, "perm": topic.perm}


def _group_settings(group: Group) -> dict[str, Any]:
    """Return the settings under the names that the client gives them, none for a group that nobody configured."""
    config = group.config
    if config is None:
        return {}
    return {
        "retry_max_times": config.retry_max_times,
        "retry_queue_nums": config.retry_queue_nums,
        "consume_enable": config.consume_enable,
        "consume_broadcast_enable": config.consume_broadcast_enable,
    }


def _change(
    by: Actor,
    action: str,
    resource: str,
    act: Callable[[], None],
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    try:
        act()
    except GantryError as error:
        record(by, action, resource, result="failed", before=before, after={"error": str(error)})
        raise
    record(by, action, resource, before=before, after=after)


async def _all_did(answers: Awaitable[Answers[None]]) -> None:
    """Raise the first failure: a change that some brokers did not take must not look done."""
    for error in (await answers).failed.values():
        raise error
