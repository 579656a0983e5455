"""What the newest messages of a topic are like: sizes, keys and tags over a sample, said to be one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from drf_spectacular.utils import extend_schema
from msgspec import Meta, Struct
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from console.accounts.permissions import needs
from console.lag.shapes import MissingBroker
from console.moments import Moment, rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView
from gateway.control.messages import missing_of
from gateway.control.scan import Wanted, scan
from gateway.message_filter import MessageFilter

MOST_MESSAGES: Final = 5_000
_MOST_NAMED: Final = 20


class SampledSizes(Struct, frozen=True, kw_only=True):
    """Bytes in the log, headers and properties included; a percentile is the size of a message of the sample."""

    smallest: int
    p50: int
    p90: int
    p99: int
    largest: int
    mean: float


class Counted(Struct, frozen=True):
    """A key or tag, and how many messages of the sample have it."""

    name: str
    messages: int


class SampledKeys(Struct, frozen=True, kw_only=True):
    """The keys of the sample."""

    messages: Annotated[int, Meta(description="Messages with at least one key.")]
    distinct: int
    repeated: Annotated[list[Counted], Meta(description="The most frequent of those on several messages, up to 20.")]


class SampledTags(Struct, frozen=True, kw_only=True):
    """The tags of the sample."""

    messages: Annotated[int, Meta(description="Messages with a tag.")]
    distinct: int
    most: Annotated[list[Counted], Meta(description="The most frequent, up to 20.")]


class TopicAnalysis(Struct, frozen=True, kw_only=True):
    """The newest messages of a topic; what does not follow from an empty sample is null."""

    sampled: int
    complete: Annotated[bool, Meta(description="Whether these are all messages of the topic.")]
    oldest: Moment | None
    newest: Moment | None
    sizes: SampledSizes | None
    keys: SampledKeys
    tags: SampledTags
    retried: Annotated[int, Meta(description="Messages that were delivered again.")]
    damaged: Annotated[int, Meta(description="Messages whose body cannot be unpacked.")]
    missing: list[MissingBroker]


class SampleSerializer(serializers.Serializer[Any]):
    """How many messages to read."""

    sample = serializers.IntegerField(min_value=1, max_value=MOST_MESSAGES, default=1_000)


class TopicAnalysisView(ClusterScopedView):
    """A look at the newest messages."""

    permission_classes = (needs("read"),)
    resource_argument = "topic"

    @extend_schema(
        operation_id="analyzeTopic",
        tags=["topics"],
        request=SampleSerializer,
        responses=serializer_of(TopicAnalysis),
    )
    def post(self, request: Request, cluster: str, topic: str) -> Response:
        """Read up to 5,000 of the newest messages and return their sizes, keys and tags; consumes nothing."""
        form = SampleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        size = form.validated_data["sample"]
        sample = self.ask(lambda admin: _read(admin, topic, size))
        missing = missing_of(cluster, topic, sample.asked, sample.failed)
        return Response(as_json(sample.analysis(missing)))


@dataclass(slots=True)
class Sample:
    """What was read of a topic; the messages themselves are not kept."""

    sizes: list[int] = field(default_factory=list)
    keys: Counter[str] = field(default_factory=Counter)
    with_key: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    retried: int = 0
    damaged: int = 0
    oldest: int | None = None
    newest: int | None = None
    is_whole: bool = False
    asked: frozenset[str] = frozenset()
    failed: dict[str, GantryError] = field(default_factory=dict)

    def add(self, messages: Iterable[PlacedMessage]) -> None:
        """Count messages, newest first."""
        for placed in messages:
            message = placed.message
            self.sizes.append(message.store_size)
            keys = set(message.keys)
            self.keys.update(keys)
            self.with_key += bool(keys)
            self.tags.update([message.tag] if message.tag else [])
            self.retried += message.reconsume_times > 0
            self.damaged += message.damage is not None
            self.oldest = min(message.store_timestamp, self.oldest or message.store_timestamp)
            self.newest = max(message.store_timestamp, self.newest or 0)

    def analysis(self, missing: list[MissingBroker]) -> TopicAnalysis:
        """Return what the sample says."""
        repeated = [(key, count) for key, count in self.keys.most_common(_MOST_NAMED) if count > 1]
        return TopicAnalysis(
            sampled=len(self.sizes),
            complete=self.is_whole and not missing,
            oldest=None if self.oldest is None else rfc3339(self.oldest),
            newest=None if self.newest is None else rfc3339(self.newest),
            sizes=_sizes(sorted(self.sizes)),
            keys=SampledKeys(messages=self.with_key, distinct=len(self.keys), repeated=_counted(repeated)),
            tags=SampledTags(
                messages=self.tags.total(), distinct=len(self.tags), most=_counted(self.tags.most_common(_MOST_NAMED))
            ),
            retried=self.retried,
            damaged=self.damaged,
            missing=missing,
        )


async def _read(admin: Admin, topic: str, size: int) -> Sample:
    sample = Sample()
    wanted = Wanted(topic, 0, now_ms(), MessageFilter(), limit=size, budget=size)
    async for block in scan(admin, wanted):
        sample.add(block.matches)
        sample.is_whole = block.end == "end"
        sample.asked, sample.failed = block.progress.asked, block.progress.failed
    return sample


def _sizes(rising: Sequence[int]) -> SampledSizes | None:
    if not rising:
        return None

    def percentile(share: int) -> int:
        return rising[-(-len(rising) * share // 100) - 1]

    return SampledSizes(
        smallest=rising[0],
        p50=percentile(50),
        p90=percentile(90),
        p99=percentile(99),
        largest=rising[-1],
        mean=sum(rising) / len(rising),
    )


def _counted(found: Iterable[tuple[str, int]]) -> list[Counted]:
    return [Counted(name, count) for name, count in found]
