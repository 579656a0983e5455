"""What an error of a send means for its messages: that it passes, that no broker accepts them, or neither."""

from __future__ import annotations

from typing import Final

from broker_core.client.errors import (
    BrokerBusy,
    BrokerRefused,
    BrokerUnavailable,
    ClientError,
    MessageRefused,
    MessageTooLarge,
    Unreachable,
)
from broker_core.protocol.codes import ResponseCode

PASSING: Final = (BrokerBusy, BrokerUnavailable, Unreachable)
"""Worth another attempt: nothing was stored. It is so after SendUncertain only once that is known."""


def is_refusal(error: ClientError) -> bool:
    """Return whether the messages themselves are refused: nothing of them was stored, and nothing will be."""
    is_illegal = isinstance(error, BrokerRefused) and error.code == ResponseCode.MESSAGE_ILLEGAL
    return is_illegal or isinstance(error, MessageTooLarge | MessageRefused)
