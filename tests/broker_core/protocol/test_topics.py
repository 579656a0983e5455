"""Names of topics and groups."""

from __future__ import annotations

import pytest

from broker_core.protocol import topics


@pytest.mark.parametrize("name", ["orders", "a", "A_b-9", "%RETRY%g", "%DLQ%g", "ns%orders", "a|b"])
def test_letters_digits_and_four_signs_make_a_name(name: str) -> None:
    assert topics.is_topic_name(name)
    assert topics.is_group_name(name)


@pytest.mark.parametrize("name", ["", " ", "a b", "a.b", "a+b", "a/b", "é", "orders\n"])
def test_anything_else_makes_none(name: str) -> None:
    assert not topics.is_topic_name(name)
    assert not topics.is_group_name(name)
    assert topics.NAME.fullmatch(name) is None


def test_a_topic_name_has_127_characters_at_most() -> None:
    assert topics.is_topic_name("t" * 127)
    assert not topics.is_topic_name("t" * 128)


def test_a_group_is_short_enough_for_its_retry_topic() -> None:
    assert topics.is_group_name("g" * 120)
    assert not topics.is_group_name("g" * 121)
    assert topics.is_topic_name(topics.retry_topic("g" * 120))


def test_people_choose_neither_percent_nor_bar() -> None:
    assert topics.PLAIN_TOPIC_NAME.fullmatch("orders_2-a")
    assert not topics.PLAIN_TOPIC_NAME.fullmatch("a%b")
    assert not topics.PLAIN_GROUP_NAME.fullmatch("a|b")


def test_topics_made_from_other_names_are_known_again() -> None:
    assert topics.retry_topic("g") == "%RETRY%g"
    assert topics.is_retry_topic("%RETRY%g")
    assert topics.dead_letter_topic("g") == "%DLQ%g"
    assert topics.is_dead_letter_topic("%DLQ%g")
    assert topics.reply_topic("DefaultCluster") == "DefaultCluster_REPLY_TOPIC"


def test_system_topics_are_distinguished_from_others() -> None:
    assert topics.is_system_topic("TBW102")
    assert topics.is_system_topic("rmq_sys_REVIVE_LOG_c")
    assert not topics.is_system_topic("orders")
    assert "TBW102" not in topics.NOT_FOR_CLIENTS
