"""The broker's and name server's own files: damaged ones are read, or stop the start with a named error."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final

import orjson
import pytest

from broker_core.broker import delay, groups, offsets, topics
from broker_core.broker.access.document import AccessDocument
from broker_core.broker.access.files import FILE_NAME as ACCOUNTS_FILE
from broker_core.broker.access.files import AccessFiles
from broker_core.broker.config import BrokerConfig, Identity, TopicDefaults
from broker_core.broker.delay import DelayQueues
from broker_core.broker.errors import BadConfigFile
from broker_core.broker.groups import Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop import journal
from broker_core.broker.pop.changes import Acknowledged, AllAcknowledged, Held, Leased, Opened, QueueClosed
from broker_core.broker.pop.leases import Leases
from broker_core.broker.saving import JsonFile, Register
from broker_core.broker.settings import Settings as BrokerSettings
from broker_core.broker.settings.register import FILE_NAME as SETTINGS_FILE
from broker_core.broker.topics import Topics
from broker_core.namesrv.settings import Settings, SettingsDamaged
from broker_core.protocol import java_properties
from broker_core.protocol.errors import MalformedBody
from tests.fuzz.cases import run_cases
from tests.fuzz.mutations import mutate
from tests.support.stores import opened, small

SAMPLES: Final[Mapping[str, Sequence[bytes]]] = {
    topics.FILE_NAME: (
        b'{"dataVersion":{"counter":3,"timestamp":1700000000000},"topicConfigTable":{"orders":{"order":false,"perm":6,'
        b'"readQueueNums":4,"topicFilterType":"SINGLE_TAG","topicName":"orders","topicSysFlag":0,"writeQueueNums":4}},'
        b'"deletedTopics":{"gone":1700000000000}}',
    ),
    groups.FILE_NAME: (
        b'{"dataVersion":{"counter":1,"timestamp":1},"subscriptionGroupTable":{"g":{"brokerId":0,"consumeEnable":true,'
        b'"consumeBroadcastEnable":true,"consumeFromMinEnable":true,"groupName":"g","retryMaxTimes":16,'
        b'"notifyConsumerIdsChangedEnable":true,"retryQueueNums":1,"whichBrokerWhenConsumeSlowly":1}}}',
    ),
    offsets.FILE_NAME: (
        b'{\n\t"offsetTable":{\n\t\t"orders@g":{0:5,1:7\n\t\t},"%RETRY%g@g":{0:1\n\t\t}\n\t}\n}',
        b'{"offsetTable":{"orders@g":{"0":5,"1":7}}}',
    ),
    delay.FILE_NAME: (b'{"offsetTable":{1:3,4:9}}', b'{"offsetTable":{"1":3},"dataVersion":{"counter":1}}'),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Keep the log lines of thousands of unreadable files out of the report of a failure."""
    caplog.set_level(logging.CRITICAL, "broker_core")


@pytest.fixture(scope="module")
def open_register(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Callable[[], Register]]]:
    """Return a function that creates a register and its file for a file name."""
    folder = tmp_path_factory.mktemp("config")
    store = opened(folder / "store")

    def makers(path: Path) -> dict[str, Callable[[], Register]]:
        file, identity, defaults, limits = JsonFile(path), Identity(), TopicDefaults(), BrokerLimits()
        return {
            topics.FILE_NAME: lambda: Topics(file, identity=identity, defaults=defaults, limits=limits),
            groups.FILE_NAME: lambda: Groups(file, defaults=defaults, limits=limits),
            offsets.FILE_NAME: lambda: ConsumerOffsets(file),
            delay.FILE_NAME: lambda: DelayQueues(file, store, (1000, 5000), lambda *_: True),
        }

    return lambda name: (folder / name, makers(folder / name)[name])


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_register_is_read_or_stops_the_start(
    name: str, open_register: Callable[[str], tuple[Path, Callable[[], Register]]]
) -> None:
    path, make = open_register(name)
    backup = path.with_name(f"{name}.bak")

    def case(random: Random) -> None:
        damaged = mutate(random, random.choice(SAMPLES[name]), SAMPLES[name])
        path.write_bytes(damaged)
        backup.write_bytes(mutate(random, damaged))
        register = make()
        register.load()  # type: ignore[attr-defined]
        orjson.loads(register.text())

    run_cases(3_000, case, named=BadConfigFile)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("tree", [b"[]", b"7", b'"x"', b'{"offsetTable":[]}', b'{"offsetTable":{"a@b":7}}', b"true"])
def test_json_of_another_shape_names_the_file(
    name: str, tree: bytes, open_register: Callable[[str], tuple[Path, Callable[[], Register]]]
) -> None:
    path, make = open_register(name)
    path.write_bytes(tree)
    register = make()
    if b"offsetTable" in tree and name in (topics.FILE_NAME, groups.FILE_NAME):
        register.load()  # type: ignore[attr-defined] # what it does not know it leaves alone
        return
    with pytest.raises(BadConfigFile, match=name):
        register.load()  # type: ignore[attr-defined]


def test_damaged_settings_of_the_name_server(tmp_path: Path) -> None:
    path = tmp_path / "kvConfig.json"
    sound = b'{"configTable":{"ORDER_TOPIC_CONFIG":{"orders":"broker-a:4"},"ns":{"k":"v"}}}'

    def case(random: Random) -> None:
        path.write_bytes(mutate(random, sound))
        settings = Settings(path)
        asyncio.run(settings.put("ns", "k", "w"))
        assert Settings(path).find("ns", "k") == "w"

    run_cases(500, case, named=SettingsDamaged)


def test_damaged_settings_of_the_broker(tmp_path: Path) -> None:
    config = BrokerConfig(store=small(tmp_path), settings={"brokerPermission": "6"})
    config.config_folder.mkdir(parents=True)
    path = config.config_folder / SETTINGS_FILE
    changed = {
        "maxMessageSize": "1048576",
        "messageDelayLevel": "1s 2s",
        "deleteWhen": "04;16",
        "fileReservedTime": "48",
    }
    sound = orjson.dumps({"dataVersion": {"counter": 1, "timestamp": 1_700_000_000_000}, "settings": changed})

    def case(random: Random) -> None:
        path.write_bytes(mutate(random, sound))
        path.with_name(f"{SETTINGS_FILE}.bak").write_bytes(mutate(random, sound))
        settings = BrokerSettings.of(config)
        orjson.loads(settings.text())
        assert dict(settings.lines("127.0.0.1:10911"))["brokerPermission"] == "6"

    run_cases(3_000, case, named=BadConfigFile)


def test_damaged_properties_files() -> None:
    sound = b"# broker\nmaxMessageSize = 4194304\nbrokerName:broker-a\n\ndelays=1s \\\n  2s\nname=\\u00e9\\t!\r\n"

    def case(random: Random) -> None:
        pairs = java_properties.parse(mutate(random, sound))
        assert java_properties.parse(java_properties.dump(pairs)) == pairs

    run_cases(5_000, case, named=MalformedBody)


CHANGES: Final = (
    Opened(1, "g", "orders", 0, 5),
    Leased(1, 8, 1_700_000_000_000, 1_700_000_060_000, (5, 6, 7)),
    Acknowledged(1, 6),
    AllAcknowledged(1, (5, 7)),
    Held(1, 5, 1_700_000_000_000, 1_700_000_090_000, 2),
    QueueClosed(1),
)


def test_a_damaged_journal_of_leases_ends_where_it_is_torn() -> None:
    whole = b"".join([journal.encode(change) for change in CHANGES])

    def case(random: Random) -> None:
        data = mutate(random, whole)
        changes, end = journal.decode_all(data)
        assert end <= len(data)
        _apply(changes)

    run_cases(5_000, case, named=())


def test_changes_of_leases_that_cannot_be_are_refused_by_name() -> None:
    def case(random: Random) -> None:
        frames = []
        for change in random.choices(CHANGES, k=4):
            payload = mutate(random, journal.encode(change)[8:])
            frames.append(zlib.crc32(payload).to_bytes(4, "big") + len(payload).to_bytes(4, "big") + payload)
        changes, _ = journal.decode_all(b"".join(frames))
        _apply(changes)

    run_cases(4_000, case, named=BadConfigFile)


def _apply(changes: Sequence[object]) -> None:
    leases = Leases(lambda _: None)
    for change in changes:
        leases.apply(change)  # type: ignore[arg-type]
    leases.clamp(lambda _topic, _queue_id: 100)


def test_damaged_files_of_accounts(tmp_path: Path) -> None:
    sound = (
        b"globalWhiteRemoteAddresses: [10.0.0.*, '2001:db8::{1,2}']\naccounts:\n- accessKey: orders-service\n"
        b"  secretKey: 12345678\n  whiteRemoteAddress: 10.0.1-5.*\n  admin: false\n  defaultTopicPerm: DENY\n"
        b"  defaultGroupPerm: SUB\n  topicPerms:\n  - orders=PUB|SUB # both\n  - \"paid=\\u0053UB\"\n"
        b"  groupPerms: [billing=SUB]\n"
        b"- {accessKey: administrator, secretKey: 'it''s long', admin: true}\ndataVersion:\n- counter: 4\n"
        b"  timestamp: 1700000000000\n"
    )  # fmt: skip
    aliases = b"accounts: &a\n- *a\n- <<: *a\n? [x, {y: z}]\n: !!python/object:os.system |\n  text\n--- %YAML 1.1\n..."
    path = tmp_path / ACCOUNTS_FILE

    def case(random: Random) -> None:
        path.write_bytes(mutate(random, sound, (sound, aliases)))
        table = AccessFiles(tmp_path).read()
        for document in table.documents.values():
            assert AccessDocument.parse(document.dump()) == document

    run_cases(3_000, case, named=BadConfigFile)
