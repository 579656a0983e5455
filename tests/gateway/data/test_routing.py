"""Requirements of `gateway.data.routing`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.data.routing import Route, check_group, check_target, check_topic, find_route
from gateway.problems import ProblemError

OURS = [
    ("POST", "/api/v1/clusters/local/topics/orders/messages", Route("produce", "local", "orders")),
    ("POST", "/api/v1/clusters/c/topics/%RETRY%g/messages", Route("produce", "c", "%RETRY%g")),
    ("POST", "/api/v1/clusters/c/groups/g/topics/t:receive", Route("receive", "c", "t", "g")),
    ("POST", "/api/v1/clusters/c/groups/g/topics/t:ack", Route("ack", "c", "t", "g")),
    ("POST", "/api/v1/clusters/c/groups/g/topics/t:nack", Route("nack", "c", "t", "g")),
    ("POST", "/api/v1/clusters/c/groups/g/topics/t:extend", Route("extend", "c", "t", "g")),
    ("GET", "/api/v1/clusters/c/groups/g/topics/t:ack", Route("ack", "c", "t", "g")),
    ("POST", "/api/v1/clusters/c/transactions/t1.A:commit", Route("commit", "c", "", transaction="t1.A")),
    ("POST", "/api/v1/clusters/c/transactions/t1.A:rollback", Route("rollback", "c", "", transaction="t1.A")),
]
NOT_OURS = [
    ("GET", "/api/v1/clusters/local/topics/orders/messages"),
    ("POST", "/api/v1/clusters/local/topics/orders"),
    ("POST", "/api/v1/clusters/local/topics/orders/messages/"),
    ("POST", "/api/v1/clusters/local/groups/g/messages"),
    ("POST", "/api/v1/clusters/c/groups/g/topics/t:purge"),
    ("POST", "/api/v1/clusters/c/groups/g/topics/receive"),
    ("POST", "/api/v1/topics/orders/messages"),
    ("GET", "/api/v1/clusters/c/transactions/t1.A"),
    ("POST", "/api/v1/clusters/c/transactions/t1.A:check"),
    ("POST", "/api/v1/clusters/c/transactions/:commit"),
    ("GET", "/"),
]


@pytest.mark.parametrize(("method", "path", "route"), OURS)
def test_paths_of_the_data_plane_are_found(method: str, path: str, route: Route) -> None:
    assert find_route(method, path) == route


@pytest.mark.parametrize(("method", "path"), NOT_OURS)
def test_all_other_paths_are_left_to_the_other_planes(method: str, path: str) -> None:
    assert find_route(method, path) is None


@given(st.text(), st.text())
def test_any_path_is_ours_or_not_and_nothing_is_raised(method: str, path: str) -> None:
    find_route(method, path)
    find_route(method, "/api/v1/clusters/" + path)


@pytest.mark.parametrize("name", ["orders", "%DLQ%billing", "a|b", "A-1_", "x" * 127])
def test_names_that_a_topic_can_have_pass(name: str) -> None:
    check_topic(name)


@pytest.mark.parametrize("name", ["", "a.b", "a b", "ö", "a/b", "x" * 128, "a\n"])
def test_names_that_no_topic_can_have_are_not_found(name: str) -> None:
    with pytest.raises(ProblemError) as caught:
        check_topic(name)
    assert (caught.value.kind.status, caught.value.kind.code) == (404, "TOPIC_NOT_FOUND")


def test_a_group_is_shorter_so_that_its_retry_topic_fits() -> None:
    check_group("g" * 120)
    with pytest.raises(ProblemError) as caught:
        check_group("g" * 121)
    assert caught.value.kind.code == "GROUP_NOT_FOUND"


@pytest.mark.parametrize("name", ["", "%RETRY%billing", "%DLQ%billing", "a|b", "a b", "ö"])
def test_a_group_has_a_name_that_users_may_give(name: str) -> None:
    with pytest.raises(ProblemError) as caught:
        check_group(name)
    assert (caught.value.kind.status, caught.value.kind.code) == (404, "GROUP_NOT_FOUND")


@pytest.mark.parametrize("topic", ["SCHEDULE_TOPIC_XXXX", "TBW102", "RMQ_SYS_TRACE_TOPIC", "rmq_sys_wheel_timer"])
def test_nothing_is_sent_to_the_topics_of_brokers(topic: str) -> None:
    with pytest.raises(ProblemError) as caught:
        check_target(topic)
    assert (caught.value.kind.status, caught.value.kind.code) == (422, "MESSAGE_ILLEGAL")


@pytest.mark.parametrize("topic", ["orders", "%DLQ%billing", "%RETRY%billing", "a|b"])
def test_messages_are_sent_to_users_topics_and_back_to_groups(topic: str) -> None:
    check_target(topic)
