"""What a broker that registers may be called (namesrv/README.md#names): operators see it everywhere, and in the log."""

from __future__ import annotations

import re
from typing import Final

from broker_core.errors import GantryError
from broker_core.protocol.topics import MAX_TOPIC_NAME

MAX_ADDRESS: Final = 255 + len(":65535")  # a DNS name has 255 characters at most

_NAME: Final = re.compile(rf"[\w.%|:@-]{{1,{MAX_TOPIC_NAME}}}")
_ADDRESS: Final = re.compile(r"(?:[\w.-]+|\[?[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]?):([0-9]{1,5})")


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
        found = _ADDRESS.fullmatch(address) if len(address) <= MAX_ADDRESS else None
        if found is None or int(found[1]) > 65_535:
            raise NameRefused(f"{address[:80]!r} of broker {broker_name} is not an address, host:port")
