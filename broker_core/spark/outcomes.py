"""Waiting until it is known what became of messages (spark/README.md#sends-without-an-answer)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from broker_core.client.admin import NotSettled
from broker_core.client.errors import ClientError, NoRoute, TopicNotFound
from broker_core.client.retry import backoff
from broker_core.errors import GantryError
from broker_core.spark.send_errors import PASSING

T = TypeVar("T")

PATIENCE_S: Final = 60.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 2.0
# Right after a change of master a name server may not know the topic.
_LATER: Final = (*PASSING, NotSettled, NoRoute, TopicNotFound)


class NotKnown(GantryError):
    """It cannot be said whether messages are stored; the text says why."""


def until_known(ask: Callable[[], T], is_wanted: Callable[[], bool] = lambda: True) -> T:
    """Return what `ask` returns; while brokers cannot tell, ask again for a minute, as long as that is wanted.

    Raises NotKnown.
    """
    failure: ClientError | None = None
    for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, within_s=PATIENCE_S):
        time.sleep(pause_s)
        if failure is not None and not is_wanted():
            break
        try:
            return ask()
        except _LATER as error:
            failure = error
        except ClientError as error:
            raise NotKnown(str(error)) from error
    raise NotKnown(str(failure)) from failure
