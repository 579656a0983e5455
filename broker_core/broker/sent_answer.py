"""What the broker adds to every send, and the fields of its answer; both follow the settings."""

from __future__ import annotations

from typing import Final

from broker_core.broker.config import BrokerConfig
from broker_core.broker.settings import Settings
from broker_core.broker.topics import Topics
from broker_core.broker.waits import UNSURE
from broker_core.protocol import fields
from broker_core.protocol import properties as names
from broker_core.protocol.codes import FLAG_RESPONSE, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.frame import Frame, FrameReader
from broker_core.protocol.header_form import HeaderForm, cut_answer
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.protocol.properties import format_properties

_SUCCESS: Final = int(ResponseCode.SUCCESS)
_NAMES: Final = fields.wire_names(SendMessageResponse)
_MSG_ID: Final = _NAMES["msg_id"]
_QUEUE_ID: Final = _NAMES["queue_id"]
_QUEUE_OFFSET: Final = _NAMES["queue_offset"]


class Additions:
    """The properties that are added to messages: the cluster, whether clients trace, and for traced ones the region."""

    def __init__(self, settings: Settings, topics: Topics) -> None:
        config = settings.config
        self._cluster = config.identity.cluster
        self._region = config.identity.region
        self._trace_topic = config.topics.trace_topic_name
        self._topics = topics
        settings.watch(self._follow)

    def _follow(self, config: BrokerConfig) -> None:
        on = config.topics.trace_on
        self._answer = fields.encode(SendMessageResponse("", 0, 0, msg_region=self._region, trace_on=on))
        self._pairs = {names.CLUSTER: self._cluster} | ({} if on else {names.TRACE_ON: "false"})
        self._pairs_of_traced = self._pairs | {names.MSG_REGION: self._region}
        self._text = format_properties(self._pairs)
        self._text_of_traced = format_properties(self._pairs_of_traced)
        self.answer_form = self._cut()
        """The form of the answer to a send with a header in JSON; the object changes when the answer does."""

    @property
    def pairs(self) -> dict[str, str]:
        """The properties to add now."""
        return self._pairs_of_traced if self._may_be_traced() else self._pairs

    @property
    def text(self) -> str:
        """The same as property text."""
        return self._text_of_traced if self._may_be_traced() else self._text

    def _may_be_traced(self) -> bool:
        """Whether messages must name their region: Java consumers from 5.3.2 on trace no others."""
        return self._topics.find(self._trace_topic) is not None

    def answer(self, message_ids: str, queue_offset: int, queue_id: int) -> Command:
        """Return the answer to a send; its fields are filled in directly, because this runs for many messages."""
        ext_fields = self._answer.copy()
        ext_fields[_MSG_ID] = message_ids
        ext_fields[_QUEUE_ID] = str(queue_id)
        ext_fields[_QUEUE_OFFSET] = str(queue_offset)
        return Command(_SUCCESS, ext_fields, b"", 0, FLAG_RESPONSE)

    def _cut(self) -> HeaderForm:
        [frame] = FrameReader().feed(self.answer("0", 0, 0).encode())
        cut = cut_answer(frame.header)
        assert cut is not None, "the answer has each of its fields once"
        return cut.form


def mark(response: Command, code: ResponseCode, done: str = "stored") -> Command:
    """Change an answer to say what a wait (`waits.py`) has not found out, unless it has; return it."""
    if code is not ResponseCode.SUCCESS:
        response.code = int(code)
        response.remark = f"{done}, but {UNSURE[code]}"
    return response


def marked(answers: bytes, code: ResponseCode) -> bytes:
    """Return the frames of the answers to sends with that change."""
    if code is ResponseCode.SUCCESS:
        return answers
    frames: list[Frame] = FrameReader().feed(answers)
    return b"".join([mark(Command.decode(frame), code).encode() for frame in frames])
