"""Whether groups read the target of a replay: each of them would get every copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rest_framework import serializers
from rest_framework.request import Request

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import is_system_group
from broker_core.client.answers import Answers
from console.accounts.permissions import allows
from console.accounts.rights import Resource
from console.clusters.connections import ask
from console.clusters.memory import remembered
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent

_MOST_NAMED: Final = 10
# Somebody waits for the job to start; a broker that is well answers this in milliseconds.
_ASK_MS: Final = 2_000


def check_not_live(request: Request, cluster: str, topic: str) -> None:
    """Raise ValidationError if groups read a topic, with the names of those that the caller may read.

    Raises BrokersSilent for a broker that does not answer: its groups are not known. Of one that no name server lists
    any more those count that it had.
    """
    masters, answers = ask(cluster, lambda admin: _asked(admin, topic))
    if answers.failed:
        reasons = "; ".join(reason_of(error, masters) for error in answers.failed.values())
        hint = "with allow_live_target the job starts without knowing them"
        raise BrokersSilent(f"Which groups read topic {topic!r} is not known: {reasons}; {hint}.")
    gone = remembered(cluster).missing(masters.values())
    had = {name for broker in gone for name, topics in broker.groups.items() if topic in topics}
    found = had.union(*answers.found.values())
    groups = sorted(name for name in found if not is_system_group(name))
    if not groups:
        return
    shown = [name for name in groups if allows(request, "read", Resource("group", name))][:_MOST_NAMED]
    others = len(groups) - len(shown)
    named = ", ".join(shown) + (f" and {others} more" if shown and others else f"{others} groups" if others else "")
    fault = f"topic {topic!r} is read by {named}, which would get the copies; true allows this"
    raise serializers.ValidationError({"allow_live_target": fault})


async def _asked(admin: Admin, topic: str) -> tuple[dict[str, str], Answers[Sequence[str]]]:
    groups = await admin.topics.groups(topic, timeout_ms=_ASK_MS)
    return await admin.clusters.masters(), Answers(dict(groups.found), groups.failed)
