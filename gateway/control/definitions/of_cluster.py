"""The topics and groups of a cluster as items of the file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from rest_framework.request import Request

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import Group
from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.client.answers import Answers
from broker_core.errors import GantryError
from console.accounts.permissions import allows
from console.accounts.rights import ANYTHING, Kind, Resource
from console.clusters.connections import ask
from console.clusters.memory import remembered
from console.clusters.reasons import reason_of
from console.lag.shapes import TopicState
from gateway.control.definitions.present import Present, not_allowed
from gateway.control.definitions.shapes import GroupDefinition, Remark, RemarkCode, Section, TopicDefinition
from gateway.control.topic_shapes import summary_of

F = TypeVar("F", Topic, Group)
Masters = Mapping[str, str]

_Words = tuple[RemarkCode, str]

_NO_SETTINGS: Final[_Words] = ("no_settings", "Consumes without settings of its own, so it is left out.")
_GROUP_DIFFERS: Final[_Words] = ("brokers_differ", "Its brokers differ; the file has the settings of one of them.")
_TOPIC_DIFFERS: Final[_Words] = (
    "brokers_differ", "Its brokers differ; the file has the most queues and the widest permission."
)  # fmt: skip
_ORDERED: Final[_Words] = ("ordered", "Its brokers keep it as ordered, which the file does not say.")
_NO_BROKER: Final = "The name servers list no broker."


def topics(request: Request, cluster: str) -> Present[TopicDefinition]:
    """Return the topics that neither brokers nor groups made, as far as the caller may read them."""
    found = own_topics(request, cluster)
    if found.items is None:
        return Present(None, found.remarks)
    odd = [_remark("topics", cluster, name, words) for name, each in found.items.items() for words in _odd(each)]
    return Present({name: topic_definition(each) for name, each in found.items.items()}, [*found.remarks, *odd])


def groups(request: Request, cluster: str) -> Present[GroupDefinition]:
    """Return the consumer groups that have settings, as far as the caller may read them."""
    found = own_groups(request, cluster)
    if found.items is None:
        return Present(None, found.remarks)
    bare = [_remark("groups", cluster, name, _NO_SETTINGS) for name, each in found.items.items() if not each.configs]
    odd = [_remark("groups", cluster, name, _GROUP_DIFFERS) for name, each in found.items.items() if _differs(each)]
    items = {name: group_definition(each) for name, each in found.items.items() if each.configs}
    return Present(items, [*found.remarks, *bare, *odd])


def own_topics(request: Request, cluster: str) -> Present[Topic]:
    """Return those topics as their brokers have them."""
    if not allows(request, "read", Resource("topic", ANYTHING)):
        return not_allowed("topics", "read", cluster)
    found = _asked("topics", cluster, lambda admin: admin.topics.list())
    own = {name: each for name, each in (found.items or {}).items() if each.kind is TopicKind.NORMAL}
    return Present(None if found.items is None else _readable(request, "topic", own), found.remarks)


def own_groups(request: Request, cluster: str) -> Present[Group]:
    """Return the groups that are not the brokers' own, those without settings too."""
    if not allows(request, "read", Resource("group", ANYTHING)):
        return not_allowed("groups", "read", cluster)
    found = _asked("groups", cluster, lambda admin: admin.groups.list())
    own = {name: each for name, each in (found.items or {}).items() if not each.is_built_in}
    return Present(None if found.items is None else _readable(request, "group", own), found.remarks)


def topic_definition(topic: Topic) -> TopicDefinition:
    """Return a topic as the file has it."""
    shown = summary_of(topic, TopicState(name=topic.name))
    return TopicDefinition(
        name=shown.name,
        read_queues=shown.read_queues,
        write_queues=shown.write_queues,
        permission=shown.permission,
        message_type=shown.message_type,
    )


def group_definition(group: Group) -> GroupDefinition:
    """Return a group that has settings as the file has it."""
    config = group.config
    assert config is not None
    return GroupDefinition(
        name=group.name,
        retry_max_times=config.retry_max_times,
        consume_enabled=config.consume_enable,
        consume_broadcast_enabled=config.consume_broadcast_enable,
    )


def _asked(section: Section, cluster: str, list_them: Callable[[Admin], Awaitable[Answers[F]]]) -> Present[F]:
    async def question(admin: Admin) -> tuple[Masters, Answers[F]]:
        return await admin.clusters.masters(), await list_them(admin)

    try:
        masters, answers = ask(cluster, question)
    except GantryError as error:
        return Present(None, [_remark(section, cluster, None, ("unreachable", reason_of(error)))])
    if not masters:
        return Present(None, [_remark(section, cluster, None, ("unreachable", _NO_BROKER))])
    if len(answers.failed) == len(masters):
        reasons = [reason_of(error, masters) for error in answers.failed.values()]
        return Present(None, [_remark(section, cluster, None, ("unreachable", reason)) for reason in reasons])
    lacking = _silent(cluster, masters, answers)
    return Present(answers.found, [_remark(section, cluster, None, ("broker_missing", each)) for each in lacking])


def _silent(cluster: str, masters: Masters, answers: Answers[F]) -> list[str]:
    """Return why each known broker did not answer: the file lacks what only it has."""
    unlisted: list[str] = [each.name for each in remembered(cluster).missing(masters.values())]
    failed: list[str] = [reason_of(error, masters) for error in answers.failed.values()]
    return [*failed, *(f"{name} is not listed by any name server" for name in unlisted)]


def _readable(request: Request, kind: Kind, found: Mapping[str, F]) -> dict[str, F]:
    return {name: each for name, each in found.items() if allows(request, "read", Resource(kind, name))}


def _remark(section: Section, cluster: str, name: str | None, words: _Words) -> Remark:
    code, text = words
    return Remark(code=code, section=section, cluster=cluster, name=name, text=text)


def _odd(topic: Topic) -> list[_Words]:
    kinds = {(each.read_queue_nums, each.write_queue_nums, each.perm) for each in topic.configs.values()}
    return [*([_TOPIC_DIFFERS] if len(kinds) > 1 else []), *([_ORDERED] if topic.order else [])]


def _differs(group: Group) -> bool:
    each = group.configs.values()
    return len({(c.retry_max_times, c.consume_enable, c.consume_broadcast_enable) for c in each}) > 1
