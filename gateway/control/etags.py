"""ETag and If-Match: whoever changes a configuration may say which one was read."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
from rest_framework.request import Request

from console.errors import PreconditionFailed


def etag(configuration: Any) -> str:
    """Return the tag of a configuration (anything that JSON holds)."""
    digest = hashlib.sha256(orjson.dumps(configuration, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return f'"{digest[:20]}"'


def check(request: Request, configuration: Any) -> None:
    """Raise PreconditionFailed when the request names, in If-Match, another configuration than the present one."""
    wanted = request.headers.get("If-Match")
    if wanted and wanted.strip() != "*" and etag(configuration) not in (tag.strip() for tag in wanted.split(",")):
        raise PreconditionFailed
