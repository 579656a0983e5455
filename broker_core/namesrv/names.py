"""What a broker that registers may be called (namesrv/README.md#names): operators see it everywhere, and in the log."""

from __future__ import annotations

import re
from typing import Final

from broker_core.errors import GantryError
from broker_core.protocol.host import is_address
from broker_core.protocol.topics import MAX_TOPIC_NAME

_LONGEST_TOPIC: Final = len("%RETRY%") + 255  # clients name groups with up to 255 characters
_NAME: Final = re.compile(rf"[\w.%|:@-]{{1,{MAX_TOPIC_NAME}}}")
_TOPIC: Final = re.compile(rf"[\w.%|:@-]{{1,{_LONGEST_TOPIC}}}")


class NameRefused(GantryError):
    """Raised when a broker registers as what no broker of RocketMQ is called; nothing of it is kept."""


def check_names(broker_name: str, cluster: str, *addresses: str) -> None:
    """Raise NameRefused for a name of a broker or a cluster, or an address, that is none."""
    for what, name in (("a broker", broker_name), ("a cluster", cluster)):
        if _NAME.fullmatch(name) is None:
            raise NameRefused(
                f"{name[:80]!r} is not the name of {what}, "
                f"which has 1 to {MAX_TOPIC_NAME} letters, digits and . _ - % | : @"
            )
    for address in addresses:
        if not is_address(address):
            raise NameRefused(f"{address[:80]!r} of broker {broker_name} is not an address, host:port")


def is_topic_name(name: str) -> bool:
    """Return whether a topic of RocketMQ may be called so: its brokers and clusters are topics too."""
    return _TOPIC.fullmatch(name) is not None
