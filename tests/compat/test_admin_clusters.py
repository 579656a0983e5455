"""`mqadmin` about clusters, brokers and name servers, against Gantry and Apache RocketMQ alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.conftest import Server
from tests.compat.driver import Driver, JavaError
from tests.compat.java_values import JavaMessage
from tests.compat.printed import pairs, row, rows
from tests.support.wait import wait_until


def route_perm(driver: Driver, server: Server, topic: str) -> str:
    """Return the permission that the name server tells of a topic."""
    printed = driver.mqadmin("topicRoute", "-n", server.name_server, "-t", topic)
    return pairs(printed.replace('"', "").replace(",", ""))["perm"]


def make_topic(driver: Driver, server: Server, topic: str) -> None:
    driver.mqadmin("updateTopic", "-n", server.name_server, "-b", server.address, "-t", topic, "-r", "2", "-w", "2")


def status(driver: Driver, server: Server) -> dict[str, str]:
    """Return the figures of the broker; Apache RocketMQ has none until it has taken its first samples."""
    told: list[str] = []

    def has_told() -> bool:
        try:
            told.append(driver.mqadmin("brokerStatus", "-n", server.name_server, "-b", server.address))
        except JavaError:
            return False
        return True

    wait_until(has_told)
    return pairs(told[-1])


def test_the_clusters_are_listed(driver: Driver, server: Server) -> None:
    status(driver, server)
    printed = driver.mqadmin("clusterList", "-n", server.name_server)

    cluster, broker, broker_id, address, version, *_ = row(printed, "test")
    assert (cluster, broker, broker_id, address) == ("test", "broker-a", "0", server.address)
    assert version.startswith("V4_9_")


def test_the_clusters_are_listed_with_what_went_in_and_out(driver: Driver, server: Server, name: str) -> None:
    make_topic(driver, server, name)
    producer = driver.producer(server.name_server)
    producer.call("send", JavaMessage(name, b"one"))

    printed = driver.mqadmin("clusterList", "-n", server.name_server, "-m")

    assert rows(printed)[0][:2] == ["test", "broker-a"]


def test_the_figures_of_a_broker_are_told(driver: Driver, server: Server) -> None:
    figures = status(driver, server)

    assert figures["brokerVersionDesc"].startswith("V4_9_")
    assert figures["runtime"].startswith("[ 0 days, 0 hours, ")
    assert int(figures["commitLogMaxOffset"]) >= int(figures["commitLogMinOffset"])
    assert 0 < float(figures["commitLogDiskRatio"]) <= 1
    assert figures["sendThreadPoolQueueSize"] == "0"
    assert figures["pageCacheLockTimeMills"] == "0"
    assert {"putTps", "getTransferedTps", "msgPutTotalTodayNow", "earliestMessageTimeStamp"} <= figures.keys()


def test_both_tell_the_same_figures(driver: Driver, server: Server) -> None:
    figures = status(driver, server)

    assert figures.keys() >= EVERY_FIGURE


EVERY_FIGURE = {
    "EndTransactionQueueSize", "EndTransactionThreadPoolQueueCapacity", "bootTimestamp", "brokerVersion",
    "brokerVersionDesc", "commitLogDirCapacity", "commitLogDiskRatio", "commitLogMaxOffset", "commitLogMinOffset",
    "consumeQueueDiskRatio", "dispatchBehindBytes", "dispatchMaxBuffer", "earliestMessageTimeStamp", "getFoundTps",
    "getMessageEntireTimeMax", "getMissTps", "getTotalTps", "getTransferedTps", "msgGetTotalTodayMorning",
    "msgGetTotalTodayNow", "msgGetTotalYesterdayMorning", "msgPutTotalTodayMorning", "msgPutTotalTodayNow",
    "msgPutTotalYesterdayMorning", "pageCacheLockTimeMills", "pullThreadPoolQueueCapacity",
    "pullThreadPoolQueueHeadWaitTimeMills", "pullThreadPoolQueueSize",
    "putMessageAverageSize", "putMessageEntireTimeMax", "putMessageFailedTimes",
    "putMessageSizeTotal", "putMessageTimesTotal", "putTps", "queryThreadPoolQueueCapacity",
    "queryThreadPoolQueueHeadWaitTimeMills", "queryThreadPoolQueueSize",
    "remainHowManyDataToFlush", "remainTransientStoreBufferNumbs", "runtime", "sendThreadPoolQueueCapacity",
    "sendThreadPoolQueueHeadWaitTimeMills", "sendThreadPoolQueueSize", "startAcceptSendRequestTimeStamp",
}  # fmt: skip


# -- settings of a broker


def settings(driver: Driver, server: Server) -> dict[str, str]:
    return pairs(driver.mqadmin("getBrokerConfig", "-n", server.name_server, "-b", server.address))


def change(driver: Driver, server: Server, setting: str, text: str) -> str:
    return driver.mqadmin(
        "updateBrokerConfig", "-n", server.name_server, "-b", server.address, "-k", setting, "-v", text
    )


def test_the_settings_of_a_broker_are_told_under_the_same_names(driver: Driver, server: Server) -> None:
    told = settings(driver, server)

    assert (told["brokerName"], told["brokerClusterName"], told["brokerId"]) == ("broker-a", "test", "0")
    assert told["listenPort"] == server.address.rpartition(":")[2]
    assert told["namesrvAddr"] == server.name_server
    assert told["storePathRootDir"] == str(server.store)
    assert told["brokerRole"] == "ASYNC_MASTER"
    assert {name: told[name] for name in DEFAULTS} == DEFAULTS


DEFAULTS = {
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "defaultTopicQueueNums": "8",
    "brokerPermission": "6",
    "flushDiskType": "ASYNC_FLUSH",
    "fileReservedTime": "72",
    "deleteWhen": "04",
    "cleanFileForciblyEnable": "true",
    "maxMessageSize": "4194304",
    "messageDelayLevel": "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h",
    "longPollingEnable": "true",
    "shortPollingTimeMills": "1000",
    "maxTransferCountOnMessageInMemory": "32",
    "maxTransferBytesOnMessageInMemory": "262144",
    "flushIntervalCommitLog": "500",
    "syncFlushTimeout": "5000",
    "flushConsumerOffsetInterval": "5000",
    "registerBrokerTimeoutMills": "6000",
    "maxMsgsNumBatch": "64",
    "traceTopicEnable": "false",
    "msgTraceTopicName": "RMQ_SYS_TRACE_TOPIC",
    "checkCRCOnRecover": "true",
    "regionId": "DefaultRegion",
}


def test_the_settings_of_a_whole_cluster_are_told(driver: Driver, server: Server) -> None:
    told = driver.mqadmin("getBrokerConfig", "-n", server.name_server, "-c", "test")

    assert f"============Master: {server.address}============" in told
    assert pairs(told)["fileReservedTime"] == "72"


def test_a_setting_changes_at_once(driver: Driver, server: Server) -> None:
    printed = change(driver, server, "fileReservedTime", "48")

    assert printed.strip() == f"update broker config success, {server.address}"
    assert settings(driver, server)["fileReservedTime"] == "48"


def test_a_setting_of_a_whole_cluster_changes(driver: Driver, server: Server) -> None:
    driver.mqadmin("updateBrokerConfig", "-n", server.name_server, "-c", "test", "-k", "deleteWhen", "-v", "04;16")

    assert settings(driver, server)["deleteWhen"] == "04;16"


def test_topics_are_no_longer_made_by_themselves_when_that_is_switched_off(
    driver: Driver, server: Server, name: str
) -> None:
    change(driver, server, "autoCreateTopicEnable", "false")
    producer = driver.producer(server.name_server)

    with pytest.raises(JavaError):
        producer.call("send", JavaMessage(name, b"x"))
    change(driver, server, "autoCreateTopicEnable", "true")

    assert name not in driver.mqadmin("topicList", "-n", server.name_server).split()


def test_the_permission_of_a_broker_goes_into_its_routes(driver: Driver, server: Server, name: str) -> None:
    make_topic(driver, server, name)
    assert route_perm(driver, server, name) == "6"

    change(driver, server, "brokerPermission", "4")
    wait_until(lambda: route_perm(driver, server, name) == "4")
    change(driver, server, "brokerPermission", "6")

    wait_until(lambda: route_perm(driver, server, name) == "6")


# -- the name server


def test_write_permission_of_a_broker_is_taken_and_given(driver: Driver, server: Server, name: str) -> None:
    make_topic(driver, server, name)

    wiped = driver.mqadmin("wipeWritePerm", "-n", server.name_server, "-b", "broker-a")
    assert route_perm(driver, server, name) == "4"
    added = driver.mqadmin("addWritePerm", "-n", server.name_server, "-b", "broker-a")

    assert route_perm(driver, server, name) == "6"
    assert wiped.startswith(f"wipe write perm of broker[broker-a] in name server[{server.name_server}] OK, ")
    assert added.startswith(f"add write perm of broker[broker-a] in name server[{server.name_server}] OK, ")
    assert wiped.split()[-1] == added.split()[-1]


def test_a_broker_that_nobody_knows_loses_no_permission(driver: Driver, server: Server) -> None:
    assert driver.mqadmin("wipeWritePerm", "-n", server.name_server, "-b", "none").strip().endswith("OK, 0")


def test_key_value_settings_are_kept_and_forgotten(driver: Driver, server: Server, name: str) -> None:
    admin = driver.admin(server.name_server)

    driver.mqadmin("updateKvConfig", "-n", server.name_server, "-s", name, "-k", "colour", "-v", "blue")
    assert admin.call("getKVConfig", name, "colour") == "blue"
    driver.mqadmin("deleteKvConfig", "-n", server.name_server, "-s", name, "-k", "colour")

    with pytest.raises(JavaError) as missing:
        admin.call("getKVConfig", name, "colour")
    assert missing.value.code == 22


def test_a_topic_is_declared_ordered(driver: Driver, server: Server, name: str) -> None:
    def order(method: str, *more: str) -> str:
        return driver.mqadmin("updateOrderConf", "-n", server.name_server, "-t", name, "-m", method, *more).strip()

    assert order("put", "-v", "broker-a:4") == f"update orderConf success. topic=[{name}], orderConf=[broker-a:4]"
    assert order("get") == f"get orderConf success. topic=[{name}], orderConf=[broker-a:4]"
    assert order("delete") == f"delete orderConf success. topic=[{name}]"
    with pytest.raises(JavaError):
        order("get")


def test_the_settings_of_a_name_server_are_told_and_changed(driver: Driver, server: Server) -> None:
    address = server.name_server

    told = pairs(driver.mqadmin("getNamesrvConfig", "-n", address))
    assert (told["listenPort"], told["orderMessageEnable"]) == (address.rpartition(":")[2], "false")

    driver.mqadmin("updateNamesrvConfig", "-n", address, "-k", "orderMessageEnable", "-v", "true")
    assert pairs(driver.mqadmin("getNamesrvConfig", "-n", address))["orderMessageEnable"] == "true"
    driver.mqadmin("updateNamesrvConfig", "-n", address, "-k", "orderMessageEnable", "-v", "false")


@pytest.mark.parametrize("setting", ["kvConfigPath", "configStorePath"])
def test_the_paths_of_a_name_server_cannot_be_changed(driver: Driver, server: Server, setting: str) -> None:
    with pytest.raises(JavaError) as refused:
        driver.mqadmin("updateNamesrvConfig", "-n", server.name_server, "-k", setting, "-v", "/tmp/x")

    assert refused.value.code == 16


# -- housekeeping and what is switched off


@pytest.mark.parametrize("command", ["cleanExpiredCQ", "cleanUnusedTopic", "deleteExpiredCommitLog"])
def test_housekeeping_is_asked_for(driver: Driver, server: Server, command: str) -> None:
    one = driver.mqadmin(command, "-n", server.name_server, "-b", server.address)
    all_of_cluster = driver.mqadmin(command, "-n", server.name_server, "-c", "test")

    assert (one.strip(), all_of_cluster.strip()) == ("success", "success")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("updateAclConfig", "-a", "rocketmq", "-s", "12345678"), 209),
        (("deleteAclConfig", "-a", "rocketmq"), 210),
        (("updateGlobalWhiteAddr", "-g", "10.10.103.239"), 211),
    ],
)
def test_accounts_cannot_be_changed_while_access_control_is_off(
    driver: Driver, server: Server, command: tuple[str, ...], code: int
) -> None:
    with pytest.raises(JavaError) as refused:
        driver.mqadmin(command[0], "-n", server.name_server, "-b", server.address, *command[1:])

    assert refused.value.code == code


@pytest.mark.parametrize("what", ["Metadata", "Configs", "Metrics"])
def test_a_cluster_is_exported(driver: Driver, server: Server, tmp_path: Path, what: str) -> None:
    status(driver, server)

    printed = driver.mqadmin(f"export{what}", "-n", server.name_server, "-c", "test", "-f", str(tmp_path))

    file = tmp_path / f"{what.lower()}.json"
    assert printed.strip() == f"export {file} success"
    assert "broker-a" in file.read_text() or what == "Metadata"


def test_sending_is_timed(driver: Driver, server: Server, name: str) -> None:
    make_topic(driver, server, name)

    printed = driver.mqadmin("checkMsgSendRT", "-n", server.name_server, "-t", name, "-a", "3", "-s", "64")

    assert [words[:3] for words in rows(printed)[:3]] == [["broker-a", str(n % 2), "true"] for n in (0, 1, 0)]


def test_a_broker_is_sent_to_and_timed(driver: Driver, server: Server) -> None:
    printed = driver.mqadmin("sendMsgStatus", "-n", server.name_server, "-b", "broker-a", "-c", "2", "-s", "64")

    assert printed.count("SEND_OK") == 2
