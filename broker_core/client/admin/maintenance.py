"""Settings of brokers and name servers, write permission, housekeeping.

Name servers do not synchronise: every change is sent to each of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import Answers
from broker_core.client.errors import MalformedAnswer
from broker_core.protocol import java_properties
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers.admin import GetBrokerConfigRequest, UpdateBrokerConfigRequest
from broker_core.protocol.headers.routes import (
    AddWritePermRequest,
    AddWritePermResponse,
    GetNameServerConfigRequest,
    UpdateNameServerConfigRequest,
    WipeWritePermRequest,
    WipeWritePermResponse,
)
from broker_core.protocol.headers.topics import CleanUnusedTopicRequest, DeleteExpiredCommitLogRequest


class Maintenance:
    """Operations on the processes of a cluster."""

    def __init__(self, requests: AdminRequests) -> None:
        self._requests = requests

    # -- settings

    async def settings_of(self, addr: str, *, timeout_ms: int | None = None) -> dict[str, str]:
        """Return the settings of one broker; raise MalformedAnswer."""
        return _settings(await self._requests.ask(addr, GetBrokerConfigRequest(), timeout_ms=timeout_ms), addr)

    async def change_settings_of(self, addr: str, settings: Mapping[str, str]) -> None:
        """Change settings of one broker, all or none.

        Raises NoPermission for protected settings, and BrokerRefused for unknown or invalid ones on Gantry; RocketMQ
        ignores these.
        """
        await self._requests.ask(addr, UpdateBrokerConfigRequest(), java_properties.dump(settings))

    async def name_server_settings(self) -> Answers[dict[str, str]]:
        """Return the settings of every name server, by address."""

        async def ask(addr: str) -> dict[str, str]:
            return _settings(await self._requests.ask(addr, GetNameServerConfigRequest()), addr)

        return await self._requests.ask_each(self._name_servers, ask)

    async def change_name_server_settings(self, settings: Mapping[str, str]) -> Answers[None]:
        """Change settings of every name server."""
        body = java_properties.dump(settings)

        async def ask(addr: str) -> None:
            await self._requests.ask(addr, UpdateNameServerConfigRequest(), body)

        return await self._requests.ask_each(self._name_servers, ask)

    # -- write permission

    async def take_write_permission(self, broker_name: str) -> Answers[int]:
        """Make producers leave a broker until it registers a change; return the number of topics by name server."""

        async def ask(addr: str) -> int:
            answer = await self._requests.ask(addr, WipeWritePermRequest(broker_name))
            return self._requests.read(WipeWritePermResponse, answer, addr).wipe_topic_count

        return await self._requests.ask_each(self._name_servers, ask)

    async def give_write_permission(self, broker_name: str) -> Answers[int]:
        """Make producers return to a broker; return the number of topics by name server."""

        async def ask(addr: str) -> int:
            answer = await self._requests.ask(addr, AddWritePermRequest(broker_name))
            return self._requests.read(AddWritePermResponse, answer, addr).add_topic_count

        return await self._requests.ask_each(self._name_servers, ask)

    # -- housekeeping

    async def drop_expired_of(self, addr: str) -> None:
        """Make one broker drop its expired segments now, at any hour."""
        await self._requests.ask(addr, DeleteExpiredCommitLogRequest())

    async def drop_unused_topics_of(self, addr: str) -> None:
        """Make one broker drop the queues of topics that no longer exist."""
        await self._requests.ask(addr, CleanUnusedTopicRequest())

    @property
    def _name_servers(self) -> tuple[str, ...]:
        return self._requests.session.name_servers.addresses


def _settings(answer: Command, addr: str) -> dict[str, str]:
    try:
        return java_properties.parse(answer.body)
    except MalformedBody as error:
        raise MalformedAnswer(addr, str(error)) from error
