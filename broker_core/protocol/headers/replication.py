"""Headers about slaves: how they copy their master's tables, besides codes 21 and 201, and how far they are."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import header


@header(RequestCode.GET_ALL_CONSUMER_OFFSET)
class GetAllConsumerOffsetRequest:
    """Code 43: every stored offset; answered by ConsumerOffsetSerializeWrapper."""


@header(RequestCode.GET_ALL_DELAY_OFFSET)
class GetAllDelayOffsetRequest:
    """Code 45: the progress of each delay level; answered by DelayOffsetSerializeWrapper."""


@header(RequestCode.GET_BROKER_HA_STATUS)
class GetBrokerHaStatusRequest:
    """Code 907 of 5.x: who copies the log; answered by HaRuntimeInfo."""
