"""Whether groups read the target of a replay: each of them would get every copy."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request

from broker_core.client.admin.groups import is_system_group
from console.accounts.permissions import allows
from console.accounts.rights import Resource
from console.clusters.connections import ask

_MOST_NAMED = 10


def check_not_live(request: Request, cluster: str, topic: str) -> None:
    """Raise ValidationError if groups read a topic, with the names of those that the caller may read.

    Raises the error of a broker that does not answer: its groups are not known.
    """
    answers = ask(cluster, lambda admin: admin.topics.groups(topic))
    for error in answers.failed.values():
        raise error
    groups = sorted({name for names in answers.found.values() for name in names if not is_system_group(name)})
    if not groups:
        return
    shown = [name for name in groups if allows(request, "read", Resource("group", name))][:_MOST_NAMED]
    others = len(groups) - len(shown)
    named = ", ".join(shown) + (f" and {others} more" if shown and others else f"{others} groups" if others else "")
    fault = f"topic {topic!r} is read by {named}, which would get the copies; true allows this"
    raise serializers.ValidationError({"allow_live_target": fault})
