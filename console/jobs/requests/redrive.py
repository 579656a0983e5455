"""The request of a redrive; it is started at the dead letters of its group, where its form is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from console.jobs.requests.kinds import COUNT, RATE, TIME, RequestKind


def _name(request: Mapping[str, Any]) -> str:
    return f"Redrive dead letters of {request['group']}"


REDRIVE: Final = RequestKind(required=("group", "target"), limits=(RATE, COUNT, TIME), name=_name)
