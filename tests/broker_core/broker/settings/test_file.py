"""A broker's configuration file: what it obeys, what it takes without effect, and what it refuses by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.settings.file import read_config
from broker_core.broker.settings.fixed import FIXED
from broker_core.broker.settings.table import SETTINGS
from broker_core.broker.settings.without_effect import WITHOUT_EFFECT
from broker_core.properties_file import BadPropertiesFile

# The example of RocketMQ's documentation of a deployment with several masters, with what people add to it.
USUAL = """
# the cluster
brokerClusterName = DefaultCluster
brokerName=broker-a
brokerId=0
namesrvAddr=192.168.0.1:9876;192.168.0.2:9876
brokerIP1=192.168.0.3
brokerIP2=192.168.0.3
listenPort=10921
defaultTopicQueueNums=4
autoCreateTopicEnable=false
deleteWhen=04
fileReservedTime=48
mappedFileSizeCommitLog=1073741824
storePathRootDir=/store/a
storePathCommitLog=/store/a/commitlog
storePathConsumeQueue=/store/a/consumequeue
storePathIndex=/store/a/index
storeCheckpoint=/store/a/checkpoint
abortFile=/store/a/abort
maxMessageSize=65536
brokerRole=ASYNC_MASTER
flushDiskType=SYNC_FLUSH
sendMessageThreadPoolNums=128
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "broker.conf"
    file.write_text(text, "utf-8")
    return file


def test_a_usual_file_is_obeyed(tmp_path: Path) -> None:
    found = read_config(written(tmp_path, USUAL))

    assert (found.cluster, found.name) == ("DefaultCluster", "broker-a")
    assert found.name_servers == ("192.168.0.1:9876", "192.168.0.2:9876")
    assert (found.bind, found.advertise, found.port) == ("0.0.0.0", "192.168.0.3", 10921)
    assert found.store == Path("/store/a")
    assert found.broker_id == 0
    assert found.settings == {
        "defaultTopicQueueNums": "4",
        "autoCreateTopicEnable": "false",
        "deleteWhen": "04",
        "fileReservedTime": "48",
        "mappedFileSizeCommitLog": "1073741824",
        "maxMessageSize": "65536",
        "brokerRole": "ASYNC_MASTER",
        "flushDiskType": "SYNC_FLUSH",
    }
    assert found.without_effect == ("brokerIP2", "sendMessageThreadPoolNums")


def test_a_file_of_a_slave_is_obeyed(tmp_path: Path) -> None:
    text = "brokerId=1\nbrokerRole=SLAVE\nhaMasterAddress=192.168.0.1:10912\nslaveReadEnable=true\n"

    found = read_config(written(tmp_path, text))

    assert found.broker_id == 1
    assert found.settings == {"brokerRole": "SLAVE", "haMasterAddress": "192.168.0.1:10912", "slaveReadEnable": "true"}


def test_what_guides_to_older_lines_name_is_taken_without_effect(tmp_path: Path) -> None:
    text = "mapedFileSizeCommitLog=1073741824\nmapedFileSizeConsumeQueue=300000\ncheckTransactionMessageEnable=false\n"

    found = read_config(written(tmp_path, f"{text}defaultReadQueueNums=8\nhaListenPort=1\n"))

    assert found.settings == {}
    assert found.without_effect == (
        "checkTransactionMessageEnable", "defaultReadQueueNums", "haListenPort", "mapedFileSizeCommitLog",
        "mapedFileSizeConsumeQueue",
    )  # fmt: skip


def test_a_file_of_5_may_say_what_is_so_here(tmp_path: Path) -> None:
    text = (
        "timerPrecisionMs=1000\nrecallMessageEnable=true\nstoreType=default\nauthenticationEnabled=false\n"
        "autoMessageVersionOnTopicLen=false\nallAckInSyncStateSet=false\nmetricsExporterType=DISABLE\n"
        "metricsPromExporterPort=5557\nenableSingleTopicRegister=true\nenablePopBufferMerge=true\n"
        "compatibleWithOldNameSrv=true\npopConsumerKVServiceEnable=false\nstorePathEpochFile=/store/epoch\n"
        "configBlackList=configBlackList;brokerConfigPath\n"
    )

    assert read_config(written(tmp_path, text)).without_effect == (
        "allAckInSyncStateSet", "autoMessageVersionOnTopicLen", "compatibleWithOldNameSrv", "enablePopBufferMerge",
        "enableSingleTopicRegister",
        "metricsPromExporterPort", "popConsumerKVServiceEnable", "storePathEpochFile",
    )  # fmt: skip


@pytest.mark.parametrize("version", ["4.9.8", "5.3.3"])
def test_a_file_of_all_defaults_is_taken(version: str) -> None:
    found = read_config(Path(__file__).with_name(f"defaults-{version}.properties"))

    assert {"enablePropertyFilter", "defaultQueryMaxNum"} <= found.settings.keys()


def test_everything_that_is_refused_is_named_at_once(tmp_path: Path) -> None:
    text = "brokerId=-1\nbrokerRole=LEADER\nflushDiskTyp=SYNC_FLUSH\ncolour=blue\nlistenPort=0\nfileReservedTime=48\n"
    file = written(tmp_path, text)

    with pytest.raises(BadPropertiesFile) as refused:
        read_config(file)

    assert str(refused.value) == (
        f"{file}: brokerId: '-1' is not a number from 0 to 2,147,483,647; "
        "brokerRole: 'LEADER' is not ASYNC_MASTER or SYNC_MASTER or SLAVE; "
        "flushDiskTyp is not known (is flushDiskType meant?); colour is not known; listenPort: '0' is not a port"
    )


@pytest.mark.parametrize(
    "line",
    [
        "namesrvAddr=", "namesrvAddr=host", "namesrvAddr=host:0", "namesrvAddr=host:70000", "namesrvAddr=a b:1",
        "namesrvAddr=a:1,b:2", "brokerName=a b", "brokerName=", "brokerClusterName=ü", "brokerIP1=", "bindAddress=a/b",
        "listenPort=x", "listenPort=65536", "storePathRootDir=data", "storePathCommitLog=/elsewhere",
        "timerPrecisionMs=10", "storeType=defaultRocksDB", "authenticationEnabled=true",
        "maxTopicLength=255", "metricsExporterType=PROM",
        "configBlackList=brokerConfigPath; fileReservedTime", "haMasterAddress=host",
        "enableDLegerCommitLog=true", "duplicationEnable=true", "flushDiskType=NEVER", "fileReservedTime=soon",
    ],
)  # fmt: skip
def test_a_text_that_is_not_served_is_refused_with_its_name(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadPropertiesFile, match=line.partition("=")[0]):
        read_config(written(tmp_path, line))


def test_a_log_elsewhere_than_in_the_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadPropertiesFile, match="storePathCommitLog: it is always 'commitlog' in the folder of"):
        read_config(written(tmp_path, "storePathRootDir=/a\nstorePathCommitLog=/b/commitlog\n"))


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadPropertiesFile, match="cannot be read: No such file"):
        read_config(tmp_path / "none")
    with pytest.raises(BadPropertiesFile, match=r"brokerName: .+ four hexadecimal digits"):
        read_config(written(tmp_path, "brokerName=\\u1"))


def test_a_name_that_is_given_twice_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = read_config(written(tmp_path, "fileReservedTime=48\nlistenPort=10911\nfileReservedTime=72\n"))

    assert found.settings == {"fileReservedTime": "72"}
    assert "given more than once, the last one counts: fileReservedTime" in caplog.text


def test_an_empty_file_changes_nothing_but_where_it_listens(tmp_path: Path) -> None:
    found = read_config(written(tmp_path, ""))

    assert (found.settings, found.name_servers, found.port, found.store) == ({}, (), None, None)
    assert found.bind == "0.0.0.0"


def test_no_setting_that_is_served_is_taken_without_effect() -> None:
    assert WITHOUT_EFFECT & SETTINGS.keys() == set()
    assert (WITHOUT_EFFECT | SETTINGS.keys()) & FIXED.keys() == set()
