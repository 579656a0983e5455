"""JSON shapes of the file of definitions.

Items are known by their names, and nothing in the file depends on an installation but the names of clusters: a rule
names its channels, and nothing has an id. Secrets are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.accounts.role_shapes import RoleRule
from console.moments import Moment
from gateway.control.topic_shapes import MessageTypeName, ShownPermission

Section = Literal["topics", "groups", "roles", "schedules", "alert_rules"]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
RemarkCode = Literal["not_allowed", "unreachable", "broker_missing", "no_settings", "brokers_differ", "ordered"]
REMARK_CODES: Final[tuple[RemarkCode, ...]] = get_args(RemarkCode)
FORMAT: Final = "gantry.definitions/1"
FORMATS: Final = (FORMAT,)


class TopicDefinition(Struct, frozen=True, kw_only=True):
    """A topic; the numbers of queues are those of one broker."""

    name: str
    read_queues: int
    write_queues: int
    permission: ShownPermission
    message_type: Annotated[MessageTypeName | None, Meta(description="Null if no broker tells one.")]


class GroupDefinition(Struct, frozen=True, kw_only=True):
    """A consumer group."""

    name: str
    retry_max_times: int
    consume_enabled: bool
    consume_broadcast_enabled: bool


class RoleDefinition(Struct, frozen=True, kw_only=True):
    """A role of one's own; who has it is not part of it."""

    name: str
    description: str
    rules: list[RoleRule]


@decoded
class ScheduleDefinition(Struct, frozen=True, kw_only=True):
    """A schedule and its job."""

    name: str
    cron: str
    zone: str
    enabled: bool
    overlap: Literal["skip", "queue", "cancel_previous"]
    catch_up_ms: int | None
    jitter_ms: int
    job: Mapping[str, Any]


@decoded
class AlertRuleDefinition(Struct, frozen=True, kw_only=True):
    """An alert rule."""

    name: str
    enabled: bool
    metric: str
    cluster: str
    subject: str
    direction: str
    limit: float
    for_ms: int
    no_data_after_ms: int | None
    severity: str
    channels: Annotated[list[str], Meta(description="Names of alert channels; these are not part of the file.")]
    template: str
    repeat_ms: int | None


Definition: TypeAlias = TopicDefinition | GroupDefinition | RoleDefinition | ScheduleDefinition | AlertRuleDefinition


class ClusterDefinitions(Struct, frozen=True, kw_only=True):
    """What a cluster has; a section that is null was not asked for, not allowed or not known, see the remarks."""

    name: str
    topics: list[TopicDefinition] | None
    groups: list[GroupDefinition] | None


class Remark(Struct, frozen=True, kw_only=True):
    """What the file does not say, or does not say exactly."""

    code: RemarkCode
    section: Section
    cluster: str | None = None
    name: Annotated[str | None, Meta(description="Null: the whole section.")] = None
    text: str


class DefinitionsFile(Struct, frozen=True, kw_only=True):
    """All definitions that the caller may read, each section sorted by name."""

    format: Literal["gantry.definitions/1"]
    exported_at: Moment
    clusters: list[ClusterDefinitions]
    roles: list[RoleDefinition] | None
    schedules: list[ScheduleDefinition] | None
    alert_rules: list[AlertRuleDefinition] | None
    remarks: Sequence[Remark]
