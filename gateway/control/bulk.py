"""Many topics or groups changed by one request: one preview for all, then an outcome for each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Annotated, Any, Final, Generic, Literal, Protocol, TypeVar, get_args

from drf_spectacular.utils import OpenApiParameter
from msgspec import Meta, Struct
from msgspec.structs import replace
from rest_framework import serializers
from rest_framework.response import Response

from broker_core.errors import GantryError
from console import etags
from console.accounts.explaining import refusal_of
from console.accounts.permissions import allows, rights_of_request
from console.accounts.rights import Resource, Verb
from console.clusters.change_lock import change_lock
from console.clusters.outcomes import BrokerOutcome
from console.clusters.reasons import reason_of
from console.errors import Conflict
from console.query import flag_of
from console.shapes import as_json
from gateway.control.cluster_view import ClusterListView

MOST: Final = 200
"""How many topics or groups one request changes."""

PARAMETERS: Final = [
    OpenApiParameter("dry_run", bool, description="Only return what the change would do."),
    OpenApiParameter(
        "If-Match", str, OpenApiParameter.HEADER, description="The ETag of the dry run, or `*`; needed for the change."
    ),
]


BulkOutcome = Literal["planned", "done", "partial", "failed", "refused"]
OUTCOMES: Final[tuple[BulkOutcome, ...]] = get_args(BulkOutcome)


class BulkItem(Struct, frozen=True, kw_only=True):
    """One name of the request, and what became of it."""

    name: str
    outcome: Annotated[
        BulkOutcome,
        Meta(description="refused: not tried, for the reason given. partial: not made on all its brokers."),
    ]
    reason: str | None = None
    brokers: Sequence[BrokerOutcome] = []


class _Named(Protocol):
    @property
    def name(self) -> str: ...


R = TypeVar("R", bound=_Named)
I = TypeVar("I", bound=BulkItem)  # noqa: E741 - an item


class BulkView(ClusterListView, Generic[R, I]):
    """A change of many; those that the caller may not change are refused one by one."""

    verb: Verb

    @abstractmethod
    def refused(self, name: str, why: str) -> I:
        """Return the item of a name that is not tried."""

    @abstractmethod
    def why_not(self, name: str, known: R | None) -> str | None:
        """Return why a name cannot be changed by anybody, or None."""

    @abstractmethod
    def version_of(self, known: R) -> object:
        """Return what must be as it was in the preview when the change is made."""

    @abstractmethod
    def with_figures(self, items: Sequence[I]) -> list[I]:
        """Return the items of a preview with what they hit, as measured last."""

    def apply(
        self,
        names: Sequence[str],
        read: Callable[[], Mapping[str, R]],
        plan: Callable[[R], I],
        change: Callable[[R], Sequence[BrokerOutcome]],
    ) -> Response:
        """Answer a dry run with the plans and their ETag, or make the change: 207 if not all is done.

        A change is compared with what `read` returns while nobody else changes any of them.
        """
        if flag_of(self.request, "dry_run"):
            plans, tag = self._plans(names, read(), plan)[:2]
            return Response(_shown(self.with_figures(list(plans.values()))), headers={"ETag": etags.etag(tag)})
        etags.require(self.request)
        with ExitStack() as locks:
            for name in sorted(names):  # in one order, so that two requests do not wait for each other
                locks.enter_context(change_lock(self.cluster, f"{self.listed}s", name))
            plans, tag, wanted = self._plans(names, read(), plan)
            etags.check(self.request, tag)
            made = {known.name: self._made(plans[known.name], known, change) for known in wanted}
        items = [made.get(name, plans[name]) for name in names]
        return Response(_shown(items), status=200 if all(each.outcome == "done" for each in items) else 207)

    def _plans(
        self, names: Sequence[str], found: Mapping[str, R], plan: Callable[[R], I]
    ) -> tuple[dict[str, I], list[tuple[str, object]], list[R]]:
        """Return the plan of each name, the version of all, and what is to be changed."""
        plans = {name: self._planned(name, found.get(name), plan) for name in names}
        wanted = [found[name] for name in names if plans[name].outcome == "planned"]
        tag = [(known.name, self.version_of(known)) for known in wanted]
        return plans, tag, wanted

    def _planned(self, name: str, known: R | None, plan: Callable[[R], I]) -> I:
        resource = Resource(self.listed, name)
        if not allows(self.request, self.verb, resource):
            return self.refused(name, refusal_of(rights_of_request(self.request), self.verb, resource))
        why = self.why_not(name, known)
        if why is not None or known is None:
            return self.refused(name, why or f"nothing is named {name!r}")
        return plan(known)

    def _made(self, item: I, known: R, change: Callable[[R], Sequence[BrokerOutcome]]) -> I:
        try:
            outcomes = change(known)
        except GantryError as error:
            return replace(item, outcome="failed", reason=reason_of(error))
        except Conflict as error:
            return replace(item, outcome="failed", reason=str(error.detail))
        whole = all(outcome.done for outcome in outcomes)
        return replace(item, outcome="done" if whole else "partial", brokers=outcomes)


class NamesField(serializers.ListField):
    """The names of a request, each once."""

    def __init__(self, *, most: int = MOST, **options: Any) -> None:
        child = serializers.CharField(max_length=255)
        super().__init__(child=child, min_length=1, max_length=most, help_text="Each once.", **options)

    def to_internal_value(self, data: Any) -> list[str]:
        """Refuse names that are given twice."""
        names: list[str] = super().to_internal_value(data)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise serializers.ValidationError(f"Is given more than once: {', '.join(twice)}.")
        return names


def _shown(items: Iterable[BulkItem]) -> dict[str, Any]:
    return {"items": as_json(list(items))}
