"""The clusters that the console knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Final

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec.structs import asdict, replace
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs
from console.accounts.rights import ANYTHING, EVERYTHING, Resource, Unnamed
from console.api_view import ApiView
from console.brokers.abilities import unknown
from console.brokers.capabilities import capabilities
from console.brokers.probe import ProbeReport, probe
from console.clusters import services
from console.clusters.connections import ClusterNotFound
from console.clusters.models import Cluster, ClusterKind
from console.clusters.same_brokers import known_addresses, same_brokers
from console.clusters.serializers import (
    ClusterChangeSerializer,
    ClusterCreateSerializer,
    ClusterDetail,
    ClusterState,
    ProbeSerializer,
)
from console.clusters.tls import client_tls, shown, with_stored_key
from console.errors import Conflict
from console.etags import IF_MATCH, etag, locked, match, tagged
from console.lag import current
from console.paging import PAGE_PARAMETERS, page_of, page_sequence
from console.query import number_of
from console.shapes import as_json, serializer_of

ClusterSerializer = serializer_of(ClusterState)
ClusterPage = page_of(ClusterSerializer)
# The sampler finds a new cluster within seconds.
_FIRST_SAMPLE: Final = timedelta(seconds=15)
_PROCESS: Final = OpenApiParameter(
    "broker_id", int, description="Forget this process of the name only, such as a slave that will not return."
)


class _ClusterRights(ApiView):
    """Anyone who may read anything may list the clusters; changing them requires `admin`."""

    permission_classes = (needs("read", to_change="admin"),)

    def right_resource(self) -> Resource | Unnamed:
        """Return anything for reading; for changing the cluster, or every one for a new one."""
        return ANYTHING if self.request.method in SAFE_METHODS else Resource("cluster", self._named)

    @property
    def _named(self) -> str | Unnamed:
        return str(self.kwargs["cluster"]) if "cluster" in self.kwargs else EVERYTHING


class ClustersView(_ClusterRights):
    """All clusters."""

    @extend_schema(operation_id="listClusters", tags=["clusters"], parameters=PAGE_PARAMETERS, responses=ClusterPage)
    def get(self, request: Request) -> Response:
        """List the clusters by name, the embedded one first."""
        rows = sorted(Cluster.objects.all(), key=lambda row: (row.kind != ClusterKind.EMBEDDED, row.name))
        page = page_sequence(request, rows, key=lambda row: row.name)
        known = known_addresses()
        return Response(as_json(page.of([_described(row, known) for row in page.items])))

    @extend_schema(
        operation_id="createCluster",
        tags=["clusters"],
        request=ClusterCreateSerializer,
        responses={201: ClusterSerializer},
    )
    def post(self, request: Request) -> Response:
        """Add an Apache RocketMQ cluster by its name servers."""
        form = ClusterCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return tagged(as_json(_described(services.add(actor_of(request), **form.validated_data))), status=201)


class ClusterView(_ClusterRights):
    """One cluster."""

    @extend_schema(operation_id="getCluster", tags=["clusters"], responses=serializer_of(ClusterDetail))
    def get(self, request: Request, cluster: str) -> Response:
        """Return a cluster, with what its brokers say that they can do."""
        shown = _described(_row(cluster))
        # Its brokers were asked seconds ago, and were silent: asking them again would only take long.
        is_silent = not shown.reachable and current.find_overview(cluster) is not None
        found = unknown(shown.reason or "no broker answers") if is_silent else capabilities(cluster, shown.etag)
        return tagged(as_json(ClusterDetail(**asdict(shown), capabilities=found)))

    @extend_schema(
        operation_id="updateCluster",
        parameters=[IF_MATCH],
        tags=["clusters"],
        request=ClusterChangeSerializer,
        responses=ClusterSerializer,
    )
    def patch(self, request: Request, cluster: str) -> Response:
        """Change the name servers, the address map or the TLS of a cluster."""
        row = _changeable(cluster)
        match(request, as_json(_described(row)))
        form = ClusterChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        with locked(request, Cluster.objects.filter(pk=row.pk), _tag) as present:
            row = services.change(actor_of(request), present, **form.validated_data)
        return tagged(as_json(_described(row)))

    @extend_schema(operation_id="deleteCluster", parameters=[IF_MATCH], tags=["clusters"], responses={204: None})
    def delete(self, request: Request, cluster: str) -> Response:
        """Remove a cluster from the console; the cluster itself does not change."""
        with locked(request, Cluster.objects.filter(pk=_changeable(cluster).pk), _tag) as row:
            services.remove(actor_of(request), row)
        return Response(status=204)


class ClusterProbeView(ApiView):
    """A connection that is tried before a cluster is added."""

    permission_classes = (needs("admin"),)
    answer_ms = 0

    @extend_schema(
        operation_id="probeCluster",
        tags=["clusters"],
        request=ProbeSerializer,
        responses=serializer_of(ProbeReport),
    )
    def post(self, request: Request) -> Response:
        """Try name servers and brokers, their clocks and abilities; nothing is written or saved."""
        form = ProbeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        account = services.account_to_try(wanted.get("cluster"), wanted["access_key"], wanted["secret_key"])
        stored = _row(wanted["cluster"]).tls if "cluster" in wanted else None
        tls = client_tls(with_stored_key(wanted.get("tls"), stored))
        report = probe(wanted["name_servers"], wanted.get("address_map", {}), account, tls)
        found = same_brokers([broker.announced for broker in report.brokers], known_addresses())
        return Response(as_json(replace(report, same_brokers=found)))


class KnownBrokerView(ApiView):
    """A broker that was once seen."""

    permission_classes = (needs("manage"),)

    def right_resource(self) -> Resource:
        """Return the cluster."""
        return Resource("cluster", self.kwargs["cluster"])

    @extend_schema(operation_id="forgetBroker", tags=["clusters"], parameters=[_PROCESS], responses={204: None})
    def delete(self, request: Request, cluster: str, broker: str) -> Response:
        """Forget a broker that will not return: its content no longer counts as missing."""
        process = number_of(request, "broker_id", None, high=2**31 - 1)
        if process is None:
            services.forget_broker(actor_of(request), _row(cluster), broker)
        else:
            services.forget_process(actor_of(request), _row(cluster), broker, process)
        return Response(status=204)


def _row(name: str) -> Cluster:
    row = Cluster.objects.filter(name=name).first()
    if row is None:
        raise ClusterNotFound(name)
    return row


def _changeable(name: str) -> Cluster:
    row = _row(name)
    if row.kind == ClusterKind.EMBEDDED:
        raise Conflict("The embedded cluster follows the settings of the process; it cannot be changed here.")
    return row


def _why_not_sampled(row: Cluster) -> str:
    if timezone.now() - row.created_at < _FIRST_SAMPLE:
        return "it was just added and has not been sampled yet"
    return "it was not sampled in the last seconds"


def _described(row: Cluster, known: Mapping[str, Collection[str]] | None = None) -> ClusterState:
    known = known_addresses() if known is None else known
    sampled = current.find_overview(row.name)
    answering = [broker for broker in sampled.brokers if broker.reachable] if sampled else []
    # While no name server answers, an empty list says nothing about the brokers.
    is_listed = sampled is not None and (bool(sampled.brokers) or sampled.name_server_reason is None)
    reason = None
    if not answering:
        reason = sampled.unknown_reason if sampled else _why_not_sampled(row)
    elif sampled is not None:
        reason = sampled.name_server_reason or sampled.unknown_reason
    counts = (len(sampled.brokers), len(answering)) if sampled and is_listed else (None, None)
    return ClusterState(
        name=row.name,
        kind=ClusterKind(row.kind),
        name_servers=services.address_of(row).name_servers,
        address_map=row.address_map,
        access_key=_access_key(row),
        tls=shown(row.tls),
        brokers=counts[0],
        brokers_answering=counts[1],
        version=next((broker.version for broker in answering), None),
        reachable=None if sampled is None else bool(answering),
        reason=reason,
        same_brokers=same_brokers(known.get(row.name, ()), known, but=row.name),
        etag=_tag(row),
    )


def _access_key(row: Cluster) -> str | None:
    account = services.address_of(row).credentials
    return None if account is None else account.access_key


def _tag(row: Cluster) -> str:
    # With the secrets: another one is another state, which the etag tells without it.
    account = [row.access_key, row.secret_key] if row.access_key else []
    return etag([row.name, services.address_of(row).name_servers, row.address_map, row.tls, *account])
