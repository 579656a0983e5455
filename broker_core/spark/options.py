"""The options of ``format("rocketmq")`` for reading, parsed once into a frozen object; `sink_options` has the others.

Ranges, queues, keys and tags are options; pushed filters are off unless asked for (spark/README.md#what-pyspark-does).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from broker_core.protocol.signature import Credentials
from broker_core.protocol.topics import BROWSING_GROUP
from broker_core.remoting import ClientTls, ClientTlsFiles, TlsRefused
from broker_core.spark import option_values as values
from broker_core.spark.errors import BadOption, BadUse, UnknownOption
from broker_core.spark.option_values import EARLIEST, LATEST, Mode, QueueOffsets, parse_time
from broker_core.spark.wire_place import WirePlace

__all__ = ["EARLIEST", "LATEST", "Mode", "QueueOffsets", "SourceOptions", "parse_source_options", "parse_time"]

_QUARTER_HOUR_MS: Final = 15 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The range of one ``load()``. Times are store times in ms; the end is exclusive."""

    topics: tuple[str, ...] = ()
    topic_pattern: re.Pattern[str] | None = None
    """Whole names of topics match it; `places.named_topics` replaces it by the topics that there are."""
    include_internal: bool = False
    """Whether the pattern also selects retry, dead-letter and system topics."""
    stores: tuple[Path, ...] = ()
    brokers: tuple[str, ...] = ()
    """Names of the brokers that own the stores, one each; over the wire, the brokers to read, all by default."""
    name_servers: tuple[str, ...] = ()
    account: Credentials | None = None
    """Signs the requests to brokers; from the options accessKey, secretKey and securityToken."""
    tls: ClientTls | None = None
    """How to connect with TLS, from the options that begin with tls; None: in plaintext."""
    cluster: str | None = None
    """The name in the offsets of a stream; None: the folder's name, or that which the brokers give."""
    queues: frozenset[tuple[str | None, int]] | None = None
    """Broker name (None: any) and queue id."""
    starting_offsets: Mapping[str, QueueOffsets] | int = EARLIEST
    ending_offsets: Mapping[str, QueueOffsets] | int = LATEST
    starting_timestamp: int | None = None
    ending_timestamp: int | None = None
    starting_times: Mapping[str, QueueOffsets] | None = None
    """By topic, broker and queue id; for these queues instead of `starting_offsets`."""
    ending_times: Mapping[str, QueueOffsets] | None = None
    keys: frozenset[str] | None = None
    tags: frozenset[str] | None = None
    columns: tuple[str, ...] | None = None
    include_properties: bool = True
    mode: Mode = Mode.PERMISSIVE
    fail_on_data_loss: bool = True
    decompress: bool = True
    filter_pushdown: bool = False
    min_partitions: int = 1
    max_partition_bytes: int | None = None
    max_offsets_per_trigger: int | None = None
    min_offsets_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    max_trigger_delay_ms: int = _QUARTER_HOUR_MS
    """How long messages may wait for others when there are fewer than `min_offsets_per_trigger`."""
    pull_batch_size: int = 32
    pull_timeout_ms: int = 3000
    pull_parallelism: int = 4
    group: str = BROWSING_GROUP
    count_to: str | None = None
    """Where tasks report their numbers of rows (`counting.RowCounter.start`)."""

    @property
    def wire_place(self) -> WirePlace:
        """How to reach the brokers, where these are read and not files."""
        return WirePlace(self.name_servers, self.account, self.tls)


def parse_source_options(given: Mapping[str, str], *, is_stream: bool | None = False) -> SourceOptions:
    """Return the options; raises UnknownOption with the nearest name, or BadOption with the expected form.

    A stream has no end and starts at the latest messages by default. None: it is not known yet which of both it is.
    """
    fields: dict[str, Any] = {"starting_offsets": LATEST} if is_stream else {}
    known = known_options(given, OPTIONS)
    _check_alone({option.name: text for option, text in known})
    for option, text in known:
        if is_stream is not None and option.use not in ("", "stream" if is_stream else "batch"):
            raise BadOption(option.name, text, f"is for {'batch reads' if is_stream else 'streams'} only")
        value = option.read(option.name, text)
        if option.field == "keys" and "keys" in fields:
            value |= fields["keys"]
        fields[option.field] = value
    return _checked(fields)


class Option(NamedTuple):
    """One option: its name as documented, the field it fills and the function that reads its text."""

    name: str
    field: str
    read: Callable[[str, str], Any]
    use: str = ""
    """``batch`` or ``stream`` for an option that only one of them has."""


def known_options(given: Mapping[str, str], options: Sequence[Option]) -> list[tuple[Option, str]]:
    """Return each given option with its text; raise UnknownOption, or BadOption for one that is not served."""
    by_lower_name = {option.name.lower(): option for option in options}
    found = []
    for name, text in given.items():
        if name.lower() in OF_SPARK:
            continue
        if name.lower() in _NOT_SERVED:
            # The value may be a secret.
            raise BadOption(name, "…", _NOT_SERVED[name.lower()])
        if name.lower() not in by_lower_name:
            raise UnknownOption(name, (option.name for option in options if option.name != "countTo"))
        found.append((by_lower_name[name.lower()], text))
    return found


def _check_alone(texts: Mapping[str, str]) -> None:
    """Raise BadOption for one of two options that say the same in different ways, and for one without its other."""
    for name, other in _EITHER:
        if name in texts and other in texts:
            raise BadOption(name, texts[name], f"give either {name} or {other}")
    if "includeInternal" in texts and "topicPattern" not in texts:
        wanted = "says what a topicPattern selects; a topic that is named is read, of whatever kind it is"
        raise BadOption("includeInternal", texts["includeInternal"], wanted)
    if "maxPartitionBytes" in texts and "nameServer" in texts:
        wanted = "the sizes of messages behind brokers are not known before they are read; minPartitions cuts the read"
        raise BadOption("maxPartitionBytes", texts["maxPartitionBytes"], wanted)


def _checked(fields: dict[str, Any]) -> SourceOptions:
    if not fields.get("topics") and "topic_pattern" not in fields:
        raise BadUse("name the topic to read, with the option topic, topics or topicPattern")
    stores, servers = fields.get("stores", ()), fields.get("name_servers", ())
    take_wire_place(fields)
    if bool(stores) == bool(servers):
        wanted = "give either store (a folder) or nameServer (host:port)"
        raise BadUse(f"{wanted}, not both" if stores else wanted)
    brokers = fields.setdefault("brokers", tuple(f"broker-{chr(97 + index)}" for index in range(len(stores))))
    if stores and len(brokers) != len(stores):
        raise BadOption("broker", ",".join(brokers), f"name as many brokers as stores, {len(stores)}")
    options = SourceOptions(**fields)
    start, end = options.starting_timestamp, options.ending_timestamp
    if start is not None and end is not None and end < start:
        raise BadOption("endingTimestamp", end, f"is before startingTimestamp {start}")
    least, most = options.min_offsets_per_trigger, options.max_offsets_per_trigger
    if least is not None and most is not None and least > most:
        raise BadOption("minOffsetsPerTrigger", least, f"is more than maxOffsetsPerTrigger {most}")
    if "properties" in (options.columns or ()) and not options.include_properties:
        raise BadOption("includeProperties", "false", "columns names properties")
    return options


_ACCOUNT_OPTIONS: Final[Sequence[Option]] = (
    Option("accessKey", "access_key", values.read_text),
    Option("secretKey", "secret_key", values.read_secret),
    Option("securityToken", "security_token", values.read_secret),
)
"""An account with which requests to brokers are signed; only with nameServer."""

_TLS_OPTIONS: Final[Sequence[Option]] = (
    Option("tls", "tls_wanted", values.read_flag),
    Option("tlsCaFile", "authorities", values.read_file),
    Option("tlsCertFile", "certificate", values.read_file),
    Option("tlsKeyFile", "key", values.read_file),
    Option("tlsKeyPassword", "key_password", values.read_secret),
    Option("tlsCheckHost", "checks_host", values.read_flag),
)
"""How to connect with TLS; only with nameServer."""

WIRE_OPTIONS: Final[Sequence[Option]] = (*_ACCOUNT_OPTIONS, *_TLS_OPTIONS)
"""The account and the TLS of connections to brokers."""


def take_wire_place(fields: dict[str, Any]) -> None:
    """Replace the parts of an account and of TLS in `fields` by `account` and `tls`; raises BadUse."""
    _take_account(fields)
    _take_tls(fields)


def _take_tls(fields: dict[str, Any]) -> None:
    """Read the files here: the tasks get their content, for they may run on other machines."""
    given = {option.field: fields.pop(option.field) for option in _TLS_OPTIONS if option.field in fields}
    if not given.pop("tls_wanted", False):
        if given:
            raise BadUse("the options of TLS say nothing without tls=true, which connects with it")
        return
    if not fields.get("name_servers"):
        raise BadUse("tls connects to brokers; give it with nameServer")
    try:
        tls = ClientTlsFiles(**given).read()
        tls.context()
    except TlsRefused as error:
        raise BadUse(f"the options of TLS: {error}") from error
    fields["tls"] = tls


def _take_account(fields: dict[str, Any]) -> None:
    key, secret, token = (fields.pop(option.field, None) for option in _ACCOUNT_OPTIONS)
    if key is None and secret is None and token is None:
        return
    if key is None or secret is None:
        raise BadUse("give both accessKey and secretKey")
    if not fields.get("name_servers"):
        raise BadUse("accessKey signs requests to brokers; give it with nameServer")
    fields["account"] = Credentials(key, secret, token)


OPTIONS: Final[Sequence[Option]] = (
    Option("store", "stores", values.read_folders),
    Option("broker", "brokers", values.read_some_words),
    Option("nameServer", "name_servers", values.read_servers),
    *WIRE_OPTIONS,
    Option("cluster", "cluster", values.read_text),
    Option("topic", "topics", values.read_words),
    Option("topics", "topics", values.read_words),
    Option("topicPattern", "topic_pattern", values.read_pattern),
    Option("includeInternal", "include_internal", values.read_flag),
    Option("queues", "queues", values.read_queues),
    Option("startingOffsets", "starting_offsets", values.read_offsets),
    Option("endingOffsets", "ending_offsets", values.read_offsets, "batch"),
    Option("startingTimestamp", "starting_timestamp", parse_time),
    Option("endingTimestamp", "ending_timestamp", parse_time, "batch"),
    Option("startingOffsetsByTimestamp", "starting_times", values.read_times),
    Option("endingOffsetsByTimestamp", "ending_times", values.read_times, "batch"),
    Option("keys", "keys", values.read_keys),
    Option("keysFile", "keys", values.read_keys_file),
    Option("tags", "tags", values.read_tags),
    Option("columns", "columns", values.read_some_words),
    Option("includeProperties", "include_properties", values.read_flag),
    Option("mode", "mode", values.read_mode),
    Option("failOnDataLoss", "fail_on_data_loss", values.read_flag),
    Option("decompress", "decompress", values.read_flag),
    Option("filterPushdown", "filter_pushdown", values.read_flag, "batch"),
    Option("minPartitions", "min_partitions", values.read_count),
    Option("maxPartitionBytes", "max_partition_bytes", values.read_count),
    Option("maxOffsetsPerTrigger", "max_offsets_per_trigger", values.read_count, "stream"),
    Option("minOffsetsPerTrigger", "min_offsets_per_trigger", values.read_count, "stream"),
    Option("maxBytesPerTrigger", "max_bytes_per_trigger", values.read_count, "stream"),
    Option("maxTriggerDelayMs", "max_trigger_delay_ms", values.read_count, "stream"),
    Option("pullBatchSize", "pull_batch_size", partial(values.read_count, most=values.MOST_PULLED)),
    Option("pullTimeoutMs", "pull_timeout_ms", partial(values.read_count, most=values.LONGEST_PULL_MS)),
    Option("pullParallelism", "pull_parallelism", partial(values.read_count, most=values.MOST_PULLS)),
    Option("group", "group", values.read_text),
    Option("countTo", "count_to", values.read_text),
)
"""All options of reading; ``countTo`` is for our own programs."""

OF_SPARK: Final = frozenset({"checkpointlocation", "queryname"})
"""Spark's own options of a stream, which it passes on."""

_EITHER: Final = (
    ("topic", "topics"),
    ("topic", "topicPattern"),
    ("topics", "topicPattern"),
    ("startingTimestamp", "startingOffsets"),
    ("startingTimestamp", "startingOffsetsByTimestamp"),
    ("endingTimestamp", "endingOffsets"),
    ("endingTimestamp", "endingOffsetsByTimestamp"),
)

_NOT_SERVED: Final = {
    "path": "a topic has no path; give topic, and store or nameServer",
}
