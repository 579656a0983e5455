"""JSON bodies compared with texts written by RocketMQ, in both directions."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol import bodies
from broker_core.protocol.errors import MalformedBody, ProtocolError
from broker_core.protocol.names import name_on_wire

QUEUE = bodies.MessageQueue("Orders", "broker-a", 0)
NOW = 1700000000000
ALL = bodies.SubscriptionData("Orders", "*", "TAG", [], [], NOW)
TAG_A = bodies.SubscriptionData("Orders", "TagA", "TAG", ["TagA"], [2598919], NOW)
VERSION = bodies.DataVersion(3, NOW)
TOPICS = bodies.TopicConfigSerializeWrapper(VERSION, {"Orders": bodies.TopicConfig("Orders", 4, 4, 6)})
QUEUE_TEXT = '{"brokerName":"broker-a","queueId":0,"topic":"Orders"}'
ALL_TEXT = (
    '{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1700000000000,'
    '"tagsSet":[],"topic":"Orders"}'
)
TAG_A_TEXT = (
    ALL_TEXT.replace("[],", '["TagA"],').replace('"*"', '"TagA"').replace('"codeSet":["TagA"]', '"codeSet":[2598919]')
)
TOPICS_TEXT = (
    '{"dataVersion":{"counter":3,"timestamp":1700000000000},"topicConfigTable":{"Orders":{"order":false,"perm":6,'
    '"readQueueNums":4,"topicFilterType":"SINGLE_TAG","topicName":"Orders","topicSysFlag":0,"writeQueueNums":4}}}'
)

GOLDEN: list[tuple[object, str]] = [
    (
        bodies.TopicRouteData(
            [bodies.BrokerData("broker-a", "DefaultCluster", {0: "10.0.0.5:10911", 1: "10.0.0.6:10911"})],
            [bodies.QueueData("broker-a", 4, 4, 6)],
        ),
        '{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.5:10911",1:"10.0.0.6:10911"},"brokerName":"broker-a",'
        '"cluster":"DefaultCluster"}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,'
        '"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}',
    ),
    (
        bodies.HeartbeatData(
            "10.0.0.9@4711",
            [bodies.ProducerData("CLIENT_INNER_PRODUCER"), bodies.ProducerData("checkout")],
            [
                bodies.ConsumerData(
                    "billing",
                    bodies.ConsumeType.CONSUME_PASSIVELY,
                    bodies.MessageModel.CLUSTERING,
                    bodies.ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
                    [
                        bodies.SubscriptionData(
                            "Orders", "TagA || TagB", "TAG", ["TagA", "TagB"], [2598919, 2598920], NOW
                        ),
                        bodies.SubscriptionData("%RETRY%billing", sub_version=NOW + 1),
                    ],
                )
            ],
        ),
        '{"clientID":"10.0.0.9@4711","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET",'
        '"consumeType":"CONSUME_PASSIVELY","groupName":"billing","messageModel":"CLUSTERING","subscriptionDataSet":['
        '{"classFilterMode":false,"codeSet":[2598919,2598920],"expressionType":"TAG","subString":"TagA || TagB",'
        '"subVersion":1700000000000,"tagsSet":["TagA","TagB"],"topic":"Orders"},{"classFilterMode":false,"codeSet":[],'
        '"expressionType":"TAG","subString":"*","subVersion":1700000000001,"tagsSet":[],"topic":"%RETRY%billing"}],'
        '"unitMode":false}],"producerDataSet":[{"groupName":"CLIENT_INNER_PRODUCER"},{"groupName":"checkout"}]}',
    ),
    (
        bodies.ClusterInfo(
            {"broker-a": bodies.BrokerData("broker-a", "DefaultCluster", {0: "10.0.0.5:10911", 1: "10.0.0.6:10911"})},
            {"DefaultCluster": ["broker-a"]},
        ),
        '{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"10.0.0.5:10911",1:"10.0.0.6:10911"},"brokerName":"broker-a",'
        '"cluster":"DefaultCluster"}},"clusterAddrTable":{"DefaultCluster":["broker-a"]}}',
    ),
    (TOPICS, TOPICS_TEXT),
    (
        bodies.RegisterBrokerBody(TOPICS),
        f'{{"filterServerList":[],"topicConfigSerializeWrapper":{TOPICS_TEXT}}}',
    ),
    (
        bodies.SubscriptionGroupWrapper(
            bodies.DataVersion(1, NOW), {"billing": bodies.SubscriptionGroupConfig("billing")}
        ),
        '{"dataVersion":{"counter":1,"timestamp":1700000000000},"subscriptionGroupTable":{"billing":{"brokerId":0,'
        '"consumeBroadcastEnable":true,"consumeEnable":true,"consumeFromMinEnable":true,"groupName":"billing",'
        '"notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,'
        '"whichBrokerWhenConsumeSlowly":1}}}',
    ),
    (
        bodies.TopicList(["Orders", "%RETRY%billing"], "10.0.0.5:10911"),
        '{"brokerAddr":"10.0.0.5:10911","topicList":["Orders","%RETRY%billing"]}',
    ),
    (bodies.GroupList(["billing", "audit"]), '{"groupList":["billing","audit"]}'),
    (bodies.KVTable({"key": "value"}), '{"table":{"key":"value"}}'),
    (
        bodies.ResetOffsetBody({QUEUE: 120, bodies.MessageQueue("Orders", "broker-a", 1): 98}),
        f'{{"offsetTable":{{{QUEUE_TEXT}:120,{QUEUE_TEXT.replace(":0", ":1")}:98}}}}',
    ),
    (
        bodies.ResetOffsetBodyForC([bodies.QueueOffsetForC("Orders", "broker-a", 0, 120)]),
        '{"offsetTable":[{"brokerName":"broker-a","offset":120,"queueId":0,"topic":"Orders"}]}',
    ),
    (
        bodies.GetConsumerStatusBody({}, {"10.0.0.9@4711": {QUEUE: 120}}),
        f'{{"consumerTable":{{"10.0.0.9@4711":{{{QUEUE_TEXT}:120}}}},"messageQueueTable":{{}}}}',
    ),
    (
        bodies.TopicStatsTable({QUEUE: bodies.TopicOffset(0, 42, NOW + 123)}),
        f'{{"offsetTable":{{{QUEUE_TEXT}:{{"lastUpdateTimestamp":1700000000123,"maxOffset":42,"minOffset":0}}}}}}',
    ),
    (
        bodies.ConsumeStats({QUEUE: bodies.OffsetWrapper(42, 40, NOW + 100)}, 0.5),
        f'{{"consumeTps":0.5,"offsetTable":{{{QUEUE_TEXT}:'
        '{"brokerOffset":42,"consumerOffset":40,"lastTimestamp":1700000000100}}}',
    ),
    (
        bodies.ConsumeStatsList([{"billing": [bodies.ConsumeStats()]}, {"audit": []}], "10.0.0.5:10911", 2),
        '{"brokerAddr":"10.0.0.5:10911","consumeStatsList":[{"billing":[{"consumeTps":0.0,"offsetTable":{}}]},'
        '{"audit":[]}],"totalDiff":2}',
    ),
    (
        bodies.ConsumerConnection(
            [bodies.Connection("10.0.0.9@4711", "10.0.0.9:51234", "JAVA", 409)],
            {"Orders": ALL},
            bodies.ConsumeType.CONSUME_PASSIVELY,
            bodies.MessageModel.CLUSTERING,
            bodies.ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
        ),
        '{"connectionSet":[{"clientAddr":"10.0.0.9:51234","clientId":"10.0.0.9@4711","language":"JAVA","version":409}],'
        '"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING",'
        f'"subscriptionTable":{{"Orders":{ALL_TEXT}}}}}',
    ),
    (
        bodies.ProducerTableInfo(
            {"checkout": [bodies.ProducerInfo("10.0.0.9@4711", "/10.0.0.9:51234", "JAVA", 409, NOW)]}
        ),
        '{"data":{"checkout":[{"clientId":"10.0.0.9@4711","language":"JAVA","lastUpdateTimestamp":1700000000000,'
        '"remoteIP":"/10.0.0.9:51234","version":409}]}}',
    ),
    (
        bodies.GetConsumerListByGroupResponseBody(["10.0.0.9@4711", "10.0.0.10@88"]),
        '{"consumerIdList":["10.0.0.9@4711","10.0.0.10@88"]}',
    ),
    (
        bodies.BrokerStatsData(bodies.BrokerStatsItem(8, 0.4, 1.33)),
        '{"statsDay":{"avgpt":0.0,"sum":0,"tps":0.0},"statsHour":{"avgpt":0.0,"sum":0,"tps":0.0},'
        '"statsMinute":{"avgpt":1.33,"sum":8,"tps":0.4}}',
    ),
    (
        bodies.QueryConsumeQueueResponseBody([bodies.ConsumeQueueData(4096, 230, 2598919)], 42, 0, TAG_A, "null"),
        '{"filterData":"null","maxQueueIndex":42,"minQueueIndex":0,"queueData":[{"eval":false,"physicOffset":4096,'
        f'"physicSize":230,"tagsCode":2598919}}],"subscriptionData":{TAG_A_TEXT}}}',
    ),
    (
        bodies.LockBatchRequestBody("billing", "10.0.0.9@4711", [QUEUE]),
        f'{{"clientId":"10.0.0.9@4711","consumerGroup":"billing","mqSet":[{QUEUE_TEXT}]}}',
    ),
    (bodies.LockBatchResponseBody([QUEUE]), f'{{"lockOKMQSet":[{QUEUE_TEXT}]}}'),
    (
        bodies.ConsumerOffsetSerializeWrapper({"Orders@billing": {0: 120, 1: 98}}),
        '{"offsetTable":{"Orders@billing":{0:120,1:98}}}',
    ),
    (bodies.DelayOffsetSerializeWrapper({1: 1, 3: 1}), '{"offsetTable":{1:1,3:1}}'),
    (bodies.QueryCorrectionOffsetBody({0: 99}), '{"correctionOffsets":{0:99}}'),
    (
        bodies.CheckClientRequestBody("10.0.0.9@4711", "billing", ALL),
        f'{{"clientId":"10.0.0.9@4711","group":"billing","subscriptionData":{ALL_TEXT}}}',
    ),
    (
        bodies.ConsumerRunningInfo(
            {"PROP_CLIENT_VERSION": "V4_9_8"},
            [ALL],
            {
                QUEUE: bodies.ProcessQueueInfo(
                    commit_offset=40,
                    last_consume_timestamp=NOW + 100,
                    last_lock_timestamp=NOW,
                    last_pull_timestamp=NOW + 120,
                )
            },
            {"Orders": bodies.ConsumeStatus(pull_rt=1.0, pull_tps=0.5, consume_rt=3.0, consume_ok_tps=0.5)},
        ),
        f'{{"mqTable":{{{QUEUE_TEXT}:{{"cachedMsgCount":0,"cachedMsgMaxOffset":0,"cachedMsgMinOffset":0,'
        '"cachedMsgSizeInMiB":0,"commitOffset":40,"droped":false,"lastConsumeTimestamp":1700000000100,'
        '"lastLockTimestamp":1700000000000,"lastPullTimestamp":1700000000120,"locked":false,"transactionMsgCount":0,'
        '"transactionMsgMaxOffset":0,"transactionMsgMinOffset":0,"tryUnlockTimes":0}},'
        '"properties":{"PROP_CLIENT_VERSION":"V4_9_8"},"statusTable":{"Orders":{"consumeFailedMsgs":0,'
        '"consumeFailedTPS":0.0,"consumeOKTPS":0.5,"consumeRT":3.0,"pullRT":1.0,"pullTPS":0.5}},'
        f'"subscriptionSet":[{ALL_TEXT}]}}',
    ),
    (
        bodies.ConsumeMessageDirectlyResult(bodies.ConsumeResult.CR_SUCCESS, spent_time_mills=4),
        '{"autoCommit":true,"consumeResult":"CR_SUCCESS","order":false,"spentTimeMills":4}',
    ),
]

KINDS = [each for each in vars(bodies).values() if isinstance(each, type) and is_dataclass(each)]


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Return values of an annotation."""
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(max_size=6),
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
    }
    if hint in plain:
        return plain[hint]
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{each.name: values(hints[each.name]) for each in fields(hint)})  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    arguments = get_args(hint)
    if get_origin(hint) is list:
        return st.lists(values(arguments[0]), max_size=2)
    if get_origin(hint) is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    return st.none() | values(arguments[0])


@pytest.mark.parametrize(("body", "text"), GOLDEN, ids=lambda each: type(each).__name__)
def test_a_golden_body_reads_and_writes_the_same(body: object, text: str) -> None:
    assert bodies.encode(body).decode() == text
    assert bodies.decode(type(body), text.encode()) == body
    strict = bodies.encode_strict(body)
    json.loads(strict)
    assert bodies.decode(type(body), strict) == body


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=5)
@given(data=st.data())
def test_every_body_survives_both_dialects(kind: type, data: st.DataObject) -> None:
    body = data.draw(values(kind))
    assert bodies.decode(kind, bodies.encode(body)) == body
    assert bodies.decode(kind, bodies.encode_strict(body)) == body


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=200)
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_no_json_crashes_a_body(kind: type, data: st.DataObject) -> None:
    names = [name_on_wire(each) for each in fields(kind)]
    tree = data.draw(st.dictionaries(st.sampled_from(names), TREES, max_size=3) | TREES)
    with suppress(MalformedBody):
        bodies.decode(kind, json.dumps(tree).encode())


@given(st.binary(max_size=100))
def test_no_bytes_crash_a_body(data: bytes) -> None:
    with suppress(ProtocolError):
        bodies.decode(bodies.HeartbeatData, data)


def test_absent_fields_take_their_defaults_and_unknown_ones_are_ignored() -> None:
    read = bodies.decode(bodies.SubscriptionData, b'{"topic":"t","filterClassSource":"x","subString":null}')
    assert read == bodies.SubscriptionData("t", "*", "TAG", [], [], 0, False)


def test_numbers_may_be_text_and_text_may_be_numbers() -> None:
    read = bodies.decode(bodies.TopicConfig, b'{"topicName":7,"readQueueNums":"4","perm":6.0,"order":"TRUE"}')
    assert (read.topic_name, read.read_queue_nums, read.perm, read.order) == ("7", 4, 6, True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"CLUSTERING"', bodies.MessageModel.CLUSTERING),
        ("0", bodies.MessageModel.BROADCASTING),
        ('"OTHER"', None),
        ("9", None),
    ],
)
def test_an_enum_comes_by_name_or_ordinal_and_an_unknown_one_is_none(
    text: str, value: bodies.MessageModel | None
) -> None:
    data = f'{{"groupName":"g","messageModel":{text}}}'.encode()
    assert bodies.decode(bodies.ConsumerData, data).message_model is value


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        (bodies.HeartbeatData, '{"clientID":"c","consumerDataSet":null}', "HeartbeatData.consumerDataSet: null"),
        (
            bodies.HeartbeatData,
            '{"consumerDataSet":[{"groupName":"g","subscriptionDataSet":[7]}]}',
            "SubscriptionData: 7",
        ),
        (bodies.ProducerData, "{}", "group_name is missing"),
        (bodies.TopicConfig, '{"topicName":"t","perm":"x"}', "TopicConfig.perm: 'x'"),
        (bodies.TopicConfig, '{"topicName":"t","perm":9223372036854775808}', "beyond 64 bits"),
        (bodies.TopicConfig, '{"topicName":{}}', "TopicConfig.topicName: an object"),
        (bodies.KVTable, '{"table":[]}', "instead of a map"),
        (bodies.ConsumeStats, '{"offsetTable":{"x":{}}}', "."),
        (bodies.ConsumeStats, '{"consumeTps":"fast"}', "instead of a number"),
        (bodies.KVTable, "", "there is no body"),
        (bodies.KVTable, "[]", "a list instead of an object"),
    ],
)
def test_a_wrong_body_says_what_is_wrong(kind: type, text: str, says: str) -> None:
    with pytest.raises(MalformedBody, match=says):
        bodies.decode(kind, text.encode())


def test_an_acknowledgement_has_short_names_and_is_read_by_both() -> None:
    ack = bodies.BatchAck("g", "t", "0", 5, 1, 2, 3, 4, "Aw==")
    assert bodies.encode(ack) == b'{"b":"Aw==","c":"g","it":4,"pt":3,"q":1,"r":"0","rq":2,"so":5,"t":"t"}'
    long = (
        b'{"consumerGroup":"g","topic":"t","startOffset":5,"queueId":1,"reviveQueueId":2,"popTime":3,'
        b'"invisibleTime":4,"bitSet":"Aw=="}'
    )
    assert bodies.decode(bodies.BatchAck, long) == ack


def test_every_body_can_be_read_from_nothing_but_its_required_fields() -> None:
    for kind in KINDS:
        required = [each for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]
        if not required:
            assert bodies.decode(kind, b"{}") == kind()
