"""The pages for monitoring: ``/healthz``, ``/readyz`` and ``/metrics``."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import urlsplit

import orjson
import redis.asyncio
from prometheus_client.core import GaugeMetricFamily, Metric
from redis.exceptions import RedisError

from console import live
from console.accounts.rights import EVERYTHING
from console.lag.shapes import GroupList
from gateway import cluster_metrics, metrics
from gateway.data.parts import DataPlaneParts
from gateway.data.request_ids import RequestIds
from gateway.health import Health
from gateway.problems import METHOD_NOT_ALLOWED, ProblemError, find_problem, internal, respond
from gateway.siblings import Siblings
from gateway.sockets import Receive, Scope, Send

PAGES: Final = frozenset({"/healthz", "/readyz", "/metrics"})

_LOOPBACK: Final = ("127.0.0.1", "::1")
_LOOPBACK_NAMES: Final = (*_LOOPBACK, "localhost")
_FORWARDED: Final = (b"x-forwarded-for", b"forwarded", b"x-real-ip")
_SCAN: Final = 1000
_LAGS: Final = "gantry:live:groups:*"
_JSON: Final = b"application/json"

_log = logging.getLogger(__name__)


class Pages:
    """Serves the pages of one process."""

    def __init__(self, parts: DataPlaneParts, health: Health, siblings: Siblings) -> None:
        self._parts = parts
        self._siblings = siblings
        self._health = health
        self._ids = RequestIds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = dict(scope["headers"])
        request_id = self._ids.of(headers.get(b"x-request-id"))
        try:
            if scope["method"] not in ("GET", "HEAD"):
                raise ProblemError(METHOD_NOT_ALLOWED, "Only GET is allowed.", headers=[(b"allow", b"GET, HEAD")])
            status, content_type, body = await self._page(scope, headers)
            answer = [(b"content-type", content_type), (b"content-length", b"%d" % len(body))]
        except Exception as error:  # noqa: BLE001 - the top of a request
            problem = find_problem(error)
            if problem is None:
                _log.exception("%s failed", scope["path"])
                problem = internal(request_id)
            status, answer, body = respond(problem, instance=scope["path"], request_id=request_id)
        answer += [(b"cache-control", b"no-store"), (b"x-request-id", request_id.encode())]
        await send({"type": "http.response.start", "status": status, "headers": answer})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _page(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, bytes, bytes]:
        if scope["path"] == "/healthz":
            return 200, _JSON, b'{"status":"alive"}'
        if scope["path"] == "/readyz":
            state = await self._health.state()
            return 200 if state.is_ready else 503, _JSON, state.document()
        if not _is_local(scope, headers):
            principal = await self._parts.auth.of_request(headers, self._parts.address_of(scope))
            principal.require("read", EVERYTHING)
        shared = await lag_families(self._parts.redis)
        shared += await cluster_metrics.families(self._parts.redis, self._parts.connections)
        return 200, metrics.CONTENT_TYPE.encode(), metrics.page(await self._siblings.pages(), shared)


async def lag_families(store: redis.asyncio.Redis) -> list[Metric]:
    """Return the lag by cluster and group as last published by the sampler, without groups whose lag is unknown.

    Empty if Redis does not answer.
    """
    lag = GaugeMetricFamily("gantry_group_lag_messages", "Messages not consumed.", labels=["cluster", "group"])
    age = GaugeMetricFamily("gantry_group_lag_seconds", "Age of the oldest one.", labels=["cluster", "group"])
    try:
        keys = [key async for key in store.scan_iter(match=_LAGS, count=_SCAN)]
        states = await store.mget(keys) if keys else []
    except RedisError:
        return []
    for kept in states:
        if kept is None:
            continue
        event: live.Event = orjson.loads(kept)
        cluster = event["subject"].partition(":")[2]
        groups = live.read(event["data"], GroupList)
        for group in groups.items if groups else ():
            if group.lag is not None:
                lag.add_metric([cluster, group.name], group.lag)
            if group.time_lag_ms is not None:
                age.add_metric([cluster, group.name], group.time_lag_ms / 1000)
    return [lag, age]


def _is_local(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    """Return whether the request comes from this machine, and not through a proxy from another one."""
    client = scope.get("client")
    if client is None or client[0] not in _LOOPBACK or any(name in headers for name in _FORWARDED):
        return False
    # Another site's name may resolve to this machine (DNS rebinding); the Host header has the requested name.
    host = urlsplit("//" + headers.get(b"host", b"").decode("latin-1")).hostname
    return host in _LOOPBACK_NAMES
