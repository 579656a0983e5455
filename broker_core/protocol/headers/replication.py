"""Headers with which a slave copies its master's tables, besides codes 21 and 201."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import header


@header(RequestCode.GET_ALL_CONSUMER_OFFSET)
class GetAllConsumerOffsetRequest:
    """Code 43: every stored offset; answered by ConsumerOffsetSerializeWrapper."""


@header(RequestCode.GET_ALL_DELAY_OFFSET)
class GetAllDelayOffsetRequest:
    """Code 45: the progress of each delay level; answered by DelayOffsetSerializeWrapper."""
