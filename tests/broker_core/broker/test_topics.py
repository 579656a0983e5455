"""The register of topics: built-in topics, creation from a template, and recovery after a crash."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from broker_core.broker.config import Identity, TopicDefaults
from broker_core.broker.errors import BadConfigFile, IllegalTopicName, LimitReached, SystemTopic, TopicUnknown
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.saving import JsonFile
from broker_core.broker.topics import FILE_NAME, Topics, built_in, check_name
from broker_core.protocol.bodies.topics import TopicConfig


def topics_in(folder: Path, *, limit: int = 100, auto_create: bool = True) -> Topics:
    topics = Topics(
        JsonFile(folder / FILE_NAME),
        identity=Identity(cluster="local", name="broker-a"),
        defaults=TopicDefaults(auto_create_topics=auto_create),
        limits=BrokerLimits(topics=limit),
    )
    topics.load()
    return topics


def save(topics: Topics) -> None:
    topics.save(topics.text())


@pytest.mark.parametrize(
    ("name", "queues", "perm"),
    [
        ("TBW102", 8, 7),
        ("SELF_TEST_TOPIC", 1, 6),
        ("BenchmarkTest", 1024, 6),
        ("local", 16, 7),
        ("broker-a", 1, 7),
        ("OFFSET_MOVED_EVENT", 1, 6),
        ("SCHEDULE_TOPIC_XXXX", 18, 6),
        ("local_REPLY_TOPIC", 1, 6),
    ],
)
def test_a_broker_has_its_own_topics(tmp_path: Path, name: str, queues: int, perm: int) -> None:
    topic = topics_in(tmp_path).get(name)

    assert (topic.read_queue_nums, topic.write_queue_nums, topic.perm) == (queues, queues, perm)


def test_without_creation_on_demand_there_is_no_template(tmp_path: Path) -> None:
    assert topics_in(tmp_path, auto_create=False).find("TBW102") is None


@pytest.mark.parametrize("name", ["", " ", "a.b", "a/b", "täg", "x" * 128])
def test_a_name_that_no_topic_can_have_is_refused(name: str) -> None:
    with pytest.raises(IllegalTopicName):
        check_name(name)


@pytest.mark.parametrize("name", ["a", "%RETRY%billing", "a|b-c_d%e", "x" * 127])
def test_a_proper_name_passes(name: str) -> None:
    check_name(name)


def test_a_topic_is_made_after_its_template_without_the_right_to_be_one(tmp_path: Path) -> None:
    topic = topics_in(tmp_path).create_like("TBW102", "orders", queues=4, sys_flag=0, now=7)

    assert topic == TopicConfig("orders", 4, 4, 6)


def test_only_an_inheritable_topic_is_a_template(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    topics.put(TopicConfig("plain", 4, 4, 6), now=1)

    with pytest.raises(TopicUnknown):
        topics.create_like("plain", "orders", queues=4, sys_flag=0, now=2)


def test_every_change_raises_the_version(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    topics.put(TopicConfig("orders"), now=5)
    assert (topics.version.counter, topics.version.timestamp) == (1, 5)

    topics.delete("orders", now=6)
    topics.delete("orders", now=7)
    assert (topics.version.counter, topics.version.timestamp) == (2, 6)


def test_one_topic_too_many_is_refused_and_a_known_one_can_still_change(tmp_path: Path) -> None:
    topics = topics_in(tmp_path, limit=13)
    topics.put(TopicConfig("orders", 4, 4), now=1)

    with pytest.raises(LimitReached, match="topics=13"):
        topics.put(TopicConfig("bills"), now=2)
    topics.put(TopicConfig("orders", 8, 8), now=3)


def test_administration_leaves_the_broker_s_own_topics_alone(tmp_path: Path) -> None:
    with pytest.raises(SystemTopic):
        topics_in(tmp_path).check_is_not_system("local_REPLY_TOPIC")


def test_name_servers_say_which_topics_are_ordered(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    topics.put(TopicConfig("orders"), now=1)

    topics.apply_order({"orders"}, now=2)
    assert topics.get("orders").order

    version = topics.version
    topics.apply_order({"orders"}, now=3)
    assert topics.version == version

    topics.apply_order(set(), now=4)
    assert not topics.get("orders").order


# -- the file


def test_the_register_survives_a_restart(tmp_path: Path) -> None:
    before = topics_in(tmp_path)
    before.put(TopicConfig("orders", 3, 4, 6, topic_sys_flag=1), now=5)
    save(before)

    after = topics_in(tmp_path)

    assert after.get("orders") == before.get("orders")
    assert after.version == before.version


def test_the_file_is_one_that_java_brokers_read(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    topics.put(TopicConfig("orders", 3, 4), now=5)
    save(topics)

    tree = orjson.loads((tmp_path / FILE_NAME).read_bytes())
    assert tree["dataVersion"] == {"counter": 1, "timestamp": 5}
    assert tree["topicConfigTable"]["orders"] == {
        "order": False,
        "perm": 6,
        "readQueueNums": 3,
        "topicFilterType": "SINGLE_TAG",
        "topicName": "orders",
        "topicSysFlag": 0,
        "writeQueueNums": 4,
    }


def test_a_file_that_is_not_a_table_of_topics_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b'{"topicConfigTable": [1]}')

    with pytest.raises(BadConfigFile):
        topics_in(tmp_path)


# -- after a crash


def test_a_topic_whose_settings_were_lost_is_recreated_from_its_queues(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)

    lost, deleted = topics.adopt([("orders", 0), ("orders", 3), ("TBW102", 0)], now=1)

    assert (lost, deleted) == (["orders"], [])
    assert topics.get("orders").read_queue_nums == 4


def test_a_deleted_topic_does_not_come_back_from_the_log(tmp_path: Path) -> None:
    before = topics_in(tmp_path)
    before.put(TopicConfig("orders"), now=1)
    before.delete("orders", now=2)
    save(before)

    after = topics_in(tmp_path)

    assert after.adopt([("orders", 0)], now=3) == ([], ["orders"])
    assert after.find("orders") is None


def test_a_recreated_topic_is_no_longer_a_deleted_one(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    topics.put(TopicConfig("orders"), now=1)
    topics.delete("orders", now=2)
    topics.put(TopicConfig("orders", 2, 2), now=3)
    save(topics)
    topics_again = topics_in(tmp_path)

    assert topics_again.adopt([("orders", 0)], now=4) == ([], [])


def test_deletions_are_forgotten_when_the_log_holds_nothing_of_them(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    topics.put(TopicConfig("orders"), now=1)
    topics.delete("orders", now=2)

    topics.forget_deleted(before=3)

    assert topics.adopt([("orders", 0)], now=4) == (["orders"], [])


# -- templates according to the settings


def test_a_template_that_is_switched_off_is_known_and_no_longer_inherited_from(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)

    assert topics.offer(TopicDefaults(auto_create_topics=False), now=1)

    assert topics.get("TBW102").perm == 6
    with pytest.raises(TopicUnknown):
        topics.create_like("TBW102", "orders", queues=4, sys_flag=0, now=2)
    assert topics.offer(TopicDefaults(), now=3)
    assert topics.create_like("TBW102", "orders", queues=4, sys_flag=0, now=4).perm == 6


def test_a_template_that_the_file_remembers_offers_as_many_queues_as_is_set(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    save(topics)
    again = topics_in(tmp_path)

    assert again.offer(TopicDefaults(queues=3, broker_topic=False), now=1)

    assert again.get("TBW102").write_queue_nums == 3
    assert again.get("broker-a").perm == 1


def test_what_is_offered_already_changes_nothing(tmp_path: Path) -> None:
    topics = topics_in(tmp_path)
    before = topics.version

    assert not topics.offer(TopicDefaults(), now=1)

    assert topics.version == before
    topics.touch(now=2)
    assert topics.version.counter == before.counter + 1


def test_a_topic_for_traces_is_there_when_it_is_wanted(tmp_path: Path) -> None:
    wanted = TopicDefaults(trace_topic=True, trace_topic_name="traces")

    assert "traces" in {topic.topic_name for topic in built_in(Identity(), wanted)}
    assert "traces" not in {topic.topic_name for topic in built_in(Identity(), TopicDefaults())}


def test_an_account_creates_a_quarter_of_all_topics_and_remembers_it_over_a_restart(tmp_path: Path) -> None:
    topics = topics_in(tmp_path, limit=24)
    for number in range(3):
        topics.create_like("TBW102", f"t{number}", queues=1, sys_flag=0, now=1, account="alice")
        topics.get_or_create(f"%RETRY%g{number}", queues=1, now=1, account="alice")
    topics.save(topics.text())

    again = topics_in(tmp_path, limit=24)
    for register in (topics, again):
        with pytest.raises(LimitReached, match="one account may have 1 / 4 of them; topic 't3' was not created"):
            register.create_like("TBW102", "t3", queues=1, sys_flag=0, now=2, account="alice")
    again.delete("t0", now=2)
    again.create_like("TBW102", "t3", queues=1, sys_flag=0, now=2, account="alice")


def test_the_last_topics_are_created_by_administration_alone(tmp_path: Path) -> None:
    topics = topics_in(tmp_path, limit=20)
    for number in range(19 - len(topics)):
        topics.get_or_create(f"t{number}", queues=1, now=1)
    with pytest.raises(LimitReached, match="limit topics=20 reached: the last 1 / 20 is for administrators; topic 'x'"):
        topics.get_or_create("x", queues=1, now=1)
    topics.put(TopicConfig("x", 1, 1), now=1)
