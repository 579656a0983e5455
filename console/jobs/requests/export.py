"""The request of an export."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rest_framework.request import Request

from console.accounts.permissions import allows
from console.accounts.rights import Resource
from console.jobs.exported import CONTENTS
from console.jobs.requests.kinds import RequestKind

FORMATS: Final = ("csv", "jsonl", "parquet")
DEFAULT_COLUMNS: Final = (
    "broker", "queue_id", "queue_offset", "store_timestamp", "born_timestamp", "message_id", "keys", "tag", "body",
    "properties",
)  # fmt: skip
COLUMNS: Final = (
    "topic", "broker", "queue_id", "queue_offset", "log_offset", "message_id", "unique_id", "key", "keys", "tag",
    "body", "properties", "born_timestamp", "store_timestamp", "born_host", "flag", "sys_flag", "reconsume_times",
    "body_size", "record_size", "prepared_offset", "store_host", "offset_id", "properties_text", "crc_ok",
)  # fmt: skip


def columns_for(request: Request, attrs: Mapping[str, Any]) -> list[str]:
    """Return the columns of a file: those that were asked for, or what the caller may read of the usual ones."""
    if "columns" in attrs:
        return list(attrs["columns"])
    may_read = allows(request, "bodies", Resource("topic", attrs["source"]["topic"]))
    return [name for name in DEFAULT_COLUMNS if may_read or name not in CONTENTS]


def _name(request: Mapping[str, Any]) -> str:
    return f"Export {request['source']['topic']} as {request['format']}"


EXPORT: Final = RequestKind(required=("source", "format"), optional=("columns", "dry_run"), name=_name)
