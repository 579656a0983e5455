"""Names of topics and groups: valid names, names reserved for brokers, names derived from a group.

On the wire a name has letters, digits, ``_``, ``-``, ``%`` and ``|``. Users may not use the last two, which RocketMQ
uses for its own topics. A group's name is shorter than a topic's, so that the name of its retry topic fits.
"""

from __future__ import annotations

import re
from typing import Final

MAX_TOPIC_NAME: Final = 127  # a stored record has a one-byte signed length
MAX_GROUP_NAME: Final = 120  # so that its retry topic has a name; a longer one consumes without retries

NAME: Final = re.compile(r"[%|a-zA-Z0-9_-]+")
"""The characters allowed in a name on the wire, of any length."""
TOPIC_NAME: Final = re.compile(rf"[%|a-zA-Z0-9_-]{{1,{MAX_TOPIC_NAME}}}")
_GROUP_NAME: Final = re.compile(rf"[%|a-zA-Z0-9_-]{{1,{MAX_GROUP_NAME}}}")
PLAIN_TOPIC_NAME: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_TOPIC_NAME}}}")
"""The names that users may give to a topic."""
PLAIN_GROUP_NAME: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_GROUP_NAME}}}")

RETRY_PREFIX: Final = "%RETRY%"
DEAD_LETTER_PREFIX: Final = "%DLQ%"
_REPLY_SUFFIX: Final = "_REPLY_TOPIC"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"
"""Of the names of groups that brokers use themselves."""
BROWSING_GROUP: Final = "TOOLS_CONSUMER"
"""A consumer group that exists on every broker; reading by offset requires a group and commits nothing."""

TEMPLATE_TOPIC: Final = "TBW102"
"""Brokers that may create unknown topics copy the settings of this one."""
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
"""Where delayed messages wait, one queue for each delay level."""
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"
"""Where messages with a delivery time of their own wait, all in one queue (5.x)."""
TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"
SELF_TEST_TOPIC: Final = "SELF_TEST_TOPIC"
BENCHMARK_TOPIC: Final = "BenchmarkTest"
OFFSET_MOVED_EVENT: Final = "OFFSET_MOVED_EVENT"
HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
"""Messages of open transactions."""
OP_HALF_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
"""The producers' decisions on transactions."""
TRANSACTION_EXPIRED_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
"""Messages of transactions that were checked too often without an answer."""

SYSTEM_PREFIX: Final = "rmq_sys_"
NOT_FOR_CLIENTS: Final = frozenset(
    {
        SCHEDULE_TOPIC,
        TIMER_TOPIC,
        HALF_TOPIC,
        OP_HALF_TOPIC,
        TRANSACTION_EXPIRED_TOPIC,
        SELF_TEST_TOPIC,
        OFFSET_MOVED_EVENT,
    }
)
"""Topics that clients may not send to."""
WITH_ALL_TOPICS: Final = frozenset({SCHEDULE_TOPIC, TIMER_TOPIC, HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC})
"""Of these, the topics that have messages, or facts about messages, of all other topics."""
SYSTEM_TOPICS: Final = NOT_FOR_CLIENTS | {TEMPLATE_TOPIC, BENCHMARK_TOPIC, TRACE_TOPIC}
"""The topics that every broker has for itself, besides those named after its cluster and itself."""


def is_topic_name(name: str) -> bool:
    """Return whether a topic can have this name."""
    return TOPIC_NAME.fullmatch(name) is not None


def is_group_name(name: str) -> bool:
    """Return whether a group can have this name."""
    return _GROUP_NAME.fullmatch(name) is not None


def is_system_topic(topic: str) -> bool:
    """Return whether a topic belongs to every broker; those named after a cluster or a broker are not recognised."""
    return topic in SYSTEM_TOPICS or topic.startswith(SYSTEM_PREFIX)


def real_topic(topic: str, waits_for: str | None) -> str:
    """Return for which topic a message is: its own, or the one that REAL_TOPIC names of one that waits for another."""
    return waits_for if waits_for and topic in WITH_ALL_TOPICS else topic


def retry_topic(group: str) -> str:
    """Return the topic through which a group receives failed messages again."""
    return RETRY_PREFIX + group


def is_retry_topic(topic: str) -> bool:
    """Return whether a topic is the retry topic of a group."""
    return topic.startswith(RETRY_PREFIX)


def dead_letter_topic(group: str) -> str:
    """Return the topic of messages that a group failed to handle too often."""
    return DEAD_LETTER_PREFIX + group


def is_dead_letter_topic(topic: str) -> bool:
    """Return whether a topic is the dead-letter topic of a group."""
    return topic.startswith(DEAD_LETTER_PREFIX)


def group_of(topic: str) -> str:
    """Return the consumer group of a retry or dead-letter topic."""
    return topic.removeprefix(RETRY_PREFIX if is_retry_topic(topic) else DEAD_LETTER_PREFIX)


def reply_topic(cluster: str) -> str:
    """Return the topic that brokers of a cluster use for replies to requests between clients."""
    return cluster + _REPLY_SUFFIX
