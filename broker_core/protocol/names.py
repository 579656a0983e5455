"""The name of a dataclass field on the wire: camel case, or the name in its metadata."""

from __future__ import annotations

import re
from dataclasses import Field
from typing import Any


def name_on_wire(field: Field[Any]) -> str:
    """Return ``maxMsgNums`` for `max_msg_nums`, or the field's metadata ``"wire"`` if there is one."""
    wire = field.metadata.get("wire")
    return wire if isinstance(wire, str) else re.sub(r"_([a-z0-9])", _upper, field.name)


def _upper(match: re.Match[str]) -> str:
    return match.group(1).upper()
