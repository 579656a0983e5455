"""The content of ``request.json``, which the launcher writes for every program."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from broker_core.job_folder import JobFolder
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls
from broker_core.spark.errors import BadRequest
from broker_core.spark.settings import SessionConfig
from broker_core.spark.wire_place import WirePlace
from broker_core.spark_conf import BadSparkConf, read_conf
from broker_core.structs import decoded

SKIP: Final = "skip"
STOP: Final = "stop"
_ON_DAMAGE: Final = (SKIP, STOP)


class SourcePlace(Struct, frozen=True, kw_only=True):
    """The location of a cluster: its files, if this machine has them, and its name servers."""

    store: str | None = None
    broker: str = ""
    name_servers: tuple[str, ...] = ()
    access_key: str | None = None
    secret_key: str | None = None
    tls: ClientTls | None = None
    """How to connect with TLS; None: in plaintext."""
    more_stores: dict[str, str] = {}
    """The folders of further brokers, by their names."""

    @property
    def account(self) -> Credentials | None:
        """The account that signs requests to its brokers."""
        return Credentials(self.access_key, self.secret_key) if self.access_key and self.secret_key else None

    @property
    def wire_place(self) -> WirePlace:
        """How to reach its brokers."""
        return WirePlace(self.name_servers, self.account, self.tls)

    @property
    def stores(self) -> dict[str, Path]:
        """The folder of each broker whose files this machine has, by name."""
        first = {self.broker: self.store} if self.store else {}
        return {name: Path(folder) for name, folder in (first | self.more_stores).items()}


class SparkPlace(Struct, frozen=True, kw_only=True):
    """The Spark to use; the fields of `session.SessionConfig`."""

    master: str
    cache: str
    java_home: str | None = None
    executor_python: str | None = None
    jobs_at_once: int = 2
    conf_file: str | None = None

    def conf(self) -> dict[str, str]:
        """Return the settings in the file; raise BadRequest if it cannot be read or changes what it may not."""
        try:
            return read_conf(Path(self.conf_file) if self.conf_file else None, self.master)
        except BadSparkConf as error:
            raise BadRequest(f"GANTRY_SPARK_CONF: {error}") from error


@decoded
class ProgramRequest(Struct, frozen=True, kw_only=True):
    """A job as its program reads it."""

    job_id: str
    type: str
    cluster: str
    created_by: str
    attempt: int
    """Starts at 1; a later attempt continues where the previous one ended."""
    request_hash: str
    asked: dict[str, Any] = msgspec.field(name="request")
    """The request of the API, which each program parses itself."""
    source: SourcePlace
    spark: SparkPlace
    queued_at_ms: int | None = None
    """Since when the job waits for this run."""
    clusters: dict[str, SourcePlace] = {}
    """The other clusters that the request names."""
    files_folder: str | None = None
    """Below it are the files that jobs may read."""
    databases_file: str | None = None
    """The databases that jobs may read, in the form of libpq's service files."""


def read_request(folder: JobFolder) -> ProgramRequest:
    """Return the request of a job; raise BadRequest if it cannot be read."""
    file = folder.path / "request.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=ProgramRequest)
    except (OSError, msgspec.DecodeError) as error:
        raise BadRequest(f"{file}: {error}") from error


def session_config(request: ProgramRequest, work_dir: Path, *, is_short: bool, max_failures: int = 1) -> SessionConfig:
    """Return the Spark that a job wants; raise BadRequest if the file with its settings cannot be read."""
    place = request.spark
    return SessionConfig(
        app_name=f"gantry {request.type} {request.job_id}",
        work_dir=work_dir,
        cache=Path(place.cache),
        master=place.master,
        java_home=place.java_home,
        executor_python=place.executor_python,
        jobs_at_once=place.jobs_at_once,
        is_short=is_short,
        # The driver plans; tasks get their ranges (`planned.py`).
        has_source=False,
        max_failures=max_failures,
        extra=place.conf(),
    )


def on_damage(request: ProgramRequest) -> str:
    """Return `SKIP` (skip damaged messages and report them) or `STOP`; raise BadRequest for anything else."""
    wanted = request.asked.get("on_damage") or SKIP
    if wanted not in _ON_DAMAGE:
        raise BadRequest(f"on_damage={wanted!r}: one of {', '.join(_ON_DAMAGE)}")
    return str(wanted)


def place_of(request: ProgramRequest, cluster: str | None) -> SourcePlace:
    """Return where a cluster is, by default that of the job; raise BadRequest for one that is not known."""
    if cluster is None or cluster == request.cluster:
        return request.source
    if cluster not in request.clusters:
        raise BadRequest(f"cluster={cluster!r}: the request does not say where it is")
    return request.clusters[cluster]
