"""Whether an etcd can keep decisions, asked once at the start (controller/README.md#settings-of-etcd)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from broker_core.controller.etcd import messages
from broker_core.controller.etcd.config import EtcdConfig, EtcdRefused
from broker_core.controller.etcd.errors import Code, Declined, EtcdError, NotSent, Unanswered
from broker_core.controller.etcd.gateway import Gateway
from broker_core.logs import get_logger

OLDEST: Final = (3, 4)
_NEVER: Final = 1
"""A revision in which nothing can have come to be: an empty etcd has this one."""

_log: Final = get_logger(__name__)


async def check(config: EtcdConfig, gateway: Gateway) -> str:
    """Return the version of the oldest member that answers.

    Raises EtcdRefused for an etcd that cannot be used, and EtcdError if no member could be asked everything.
    """
    if config.is_open_beyond_this_machine:
        _log.warning("etcd is reached without TLS beyond this machine: whoever listens there can change who leads")
    found = await asyncio.gather(*(_member(gateway, endpoint) for endpoint in config.endpoints), return_exceptions=True)
    if refused := [each for each in found if isinstance(each, BaseException) and not _is_away(each)]:
        raise refused[0]
    told = {at: each for at, each in zip(config.endpoints, found, strict=True) if isinstance(each, tuple)}
    if not told:
        raise next(each for each in found if isinstance(each, EtcdError))
    _check_one_cluster(told)
    await _check_rights(config, gateway, list(told))
    return min((version for version, _ in told.values()), key=_numbers)


def _is_away(error: BaseException) -> bool:
    return isinstance(error, NotSent | Unanswered)


async def _member(gateway: Gateway, endpoint: str) -> tuple[str, int]:
    """Return the version and the cluster of one member."""
    version = _version(endpoint, await gateway.text(endpoint, "/version"))
    try:
        status = await gateway.ask(endpoint, messages.STATUS, {})
    except Declined as error:
        if error.code is Code.UNIMPLEMENTED:
            raise EtcdRefused(
                f"{endpoint} has no JSON gateway: a configuration file of etcd must say enable-grpc-gateway: true"
            ) from error
        raise EtcdRefused(f"etcd does not take this controller: {error}") from error
    return version, messages.cluster_of(status)


def _version(endpoint: str, text: str) -> str:
    try:
        version = str(orjson.loads(text)["etcdserver"])
        numbers = _numbers(version)
    except (ValueError, KeyError, TypeError) as error:
        raise EtcdRefused(f"{endpoint} is not etcd: it tells no version") from error
    if numbers < OLDEST:
        raise EtcdRefused(f"{endpoint} is etcd {version}; the oldest that can be used is {'.'.join(map(str, OLDEST))}")
    return version


def _numbers(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def _check_one_cluster(told: Mapping[str, tuple[str, int]]) -> None:
    clusters = {cluster: endpoint for endpoint, (_, cluster) in told.items()}
    if len(clusters) > 1:
        one, other, *_ = clusters.values()
        raise EtcdRefused(f"{one} and {other} are members of different clusters of etcd")


async def _check_rights(config: EtcdConfig, gateway: Gateway, endpoints: Sequence[str]) -> None:
    """Ask for a transaction that writes nothing: etcd checks the rights of both halves before it compares."""
    key = f"{config.folder}names/-"
    asked = messages.transaction(
        [messages.compare_created(key, _NEVER)],
        [messages.put(key, "")],
        [{"request_range": messages.all_keys(config.folder)}],
    )
    for endpoint in endpoints:
        try:
            await gateway.ask(endpoint, messages.TXN, asked)
        except Declined as error:
            if error.code is not Code.EXHAUSTED:  # full, which is shown: what is kept there can be read
                who = config.user or "a client without a user"
                raise EtcdRefused(f"etcd does not let {who} read and write {config.folder}: {error}") from error
            return
        except EtcdError:
            if endpoint == endpoints[-1]:
                raise
        else:
            return
