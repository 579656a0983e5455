"""Headers by which a slave follows its master's tables. Code 21 and 201 serve too."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import header


@header(RequestCode.GET_ALL_CONSUMER_OFFSET)
class GetAllConsumerOffsetRequest:
    """Code 43: every stored offset; answered by ConsumerOffsetSerializeWrapper."""


@header(RequestCode.GET_ALL_DELAY_OFFSET)
class GetAllDelayOffsetRequest:
    """Code 45: how far each delay level is delivered; answered by DelayOffsetSerializeWrapper."""
