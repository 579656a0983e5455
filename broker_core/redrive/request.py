"""The content of ``request.json``, which the launcher writes for a redrive."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from broker_core.errors import GantryError
from broker_core.job_folder import JobFolder
from broker_core.protocol.dead_letters import DeadLetterFilter
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls
from broker_core.structs import decoded

Destination = Literal["failed_group", "origin", "other"]


class BadRequest(GantryError):
    """The request of the job cannot be carried out."""


class Chosen(Struct, frozen=True, kw_only=True, rename={"begin": "from"}):
    """Which dead letters to send again, as the API takes it; what is missing restricts nothing."""

    causes: tuple[str | None, ...] | None = None
    topics: tuple[str, ...] | None = None
    ids: frozenset[str] | None = None
    key: str | None = None
    begin: datetime | None = None
    to: datetime | None = None

    def as_filter(self) -> DeadLetterFilter:
        """Return the filter."""
        return DeadLetterFilter(
            causes=self.causes,
            topics=self.topics,
            ids=self.ids,
            key=self.key,
            begin_ms=None if self.begin is None else int(self.begin.timestamp() * 1000),
            end_ms=None if self.to is None else int(self.to.timestamp() * 1000),
        )


class Target(Struct, frozen=True, kw_only=True):
    """Where the copies go: to the failed group alone, to the topics they came from, or to another topic."""

    to: Destination
    topic: str | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """How fast, and how many at most."""

    messages_per_second: int = 200
    max_messages: int | None = None


class Asked(Struct, frozen=True, kw_only=True):
    """The request of the API, checked."""

    group: str
    filter: Chosen = Chosen()
    target: Target
    limits: Limits = Limits()
    topics: tuple[str, ...]
    """The topics that copies may be sent to: the rights of the caller were checked for them."""


class Place(Struct, frozen=True, kw_only=True):
    """How to reach the cluster."""

    name_servers: tuple[str, ...]
    address_map: dict[str, str] = {}
    access_key: str | None = None
    secret_key: str | None = None
    tls: ClientTls | None = None
    """How to connect with TLS; None: in plaintext."""

    @property
    def account(self) -> Credentials | None:
        """The account that signs requests to the brokers."""
        return Credentials(self.access_key, self.secret_key) if self.access_key and self.secret_key else None


class Earlier(Struct, frozen=True, kw_only=True):
    """A dead letter that another job has sent again."""

    broker: str
    queue_id: int
    offset: int
    message_id: str
    copy_id: str


@decoded
class RedriveRequest(Struct, frozen=True, kw_only=True):
    """A job as the program reads it."""

    job_id: str
    cluster: str
    created_by: str
    attempt: int
    request_hash: str
    asked: Asked = msgspec.field(name="request")
    source: Place
    redriven: tuple[Earlier, ...] = ()


def read_request(folder: JobFolder) -> RedriveRequest:
    """Return the request of a job; raise BadRequest if it cannot be read."""
    file = folder.path / "request.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=RedriveRequest)
    except (OSError, msgspec.DecodeError) as error:
        raise BadRequest(f"{file}: {error}") from error
