"""Reading and changing the broker's settings over the wire, by their RocketMQ names."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from broker_core.broker.errors import IllegalArgument
from broker_core.broker.processors.handlers import Handlers, text_of
from broker_core.broker.saving import Saver
from broker_core.broker.settings import Settings
from broker_core.protocol import java_properties
from broker_core.protocol.bodies import coder
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import GetBrokerConfigResponse
from broker_core.remoting.connection import Connection


class SettingsProcessor:
    """Answers 25 and 26."""

    def __init__(self, *, settings: Settings, saver: Saver, address: str, clock: Callable[[], int]) -> None:
        self._settings = settings
        self._saver = saver
        self._address = address
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.UPDATE_BROKER_CONFIG: self.update,
            RequestCode.GET_BROKER_CONFIG: self.read,
        }

    def read(self, _request: Command, _: Connection) -> Command:
        """Return all settings, one ``key=value`` per line."""
        settings = self._settings
        version = orjson.dumps(coder.to_tree(settings.version)).decode()
        body = java_properties.dump(dict(settings.lines(self._address)))
        return Command.response(ResponseCode.SUCCESS, GetBrokerConfigResponse(version), body)

    async def update(self, request: Command, _: Connection) -> Command:
        """Change settings, all or none; they are in effect and saved when the answer is sent.

        An unknown name is refused; RocketMQ ignores it silently. After a disk error the change is in effect, the answer
        reports the error, and the settings are saved later with the other registers.
        """
        texts = java_properties.parse(text_of(request, self._settings.config.limits))
        if not texts:
            raise IllegalArgument("no setting is named")
        self._settings.update(texts, now=self._clock())
        await self._saver.save(self._settings)
        return Command.response(ResponseCode.SUCCESS)
