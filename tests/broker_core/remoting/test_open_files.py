"""The limit of open files, and its share for connections."""

from __future__ import annotations

import resource
import sys

import pytest

from broker_core.remoting.open_files import (
    BESIDE_STORE,
    Sockets,
    TooFewFiles,
    check_files,
    connections_within,
    queues_within,
    raise_limit,
)
from tests.support.crowd import lowered_open_files


def test_the_limit_becomes_what_the_system_allows() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with lowered_open_files(512):
        assert raise_limit() == hard
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)


def test_half_of_the_files_are_left_for_the_store(caplog: pytest.LogCaptureFixture) -> None:
    assert connections_within(10_000, 1_024) == 512
    assert "the system allows 1024, so the limit connections is 512 instead of 10000" in caplog.text


@pytest.mark.parametrize("of_store", [0, 1_000])
def test_fewer_files_than_are_needed_to_begin_are_refused_with_how_many_to_allow(of_store: int) -> None:
    check_files(of_store + BESIDE_STORE, of_store)
    check_files(sys.maxsize, of_store)

    with pytest.raises(TooFewFiles) as refused:
        check_files(of_store + BESIDE_STORE - 1, of_store)

    wanted = refused.value.wanted
    assert f"process {of_store + BESIDE_STORE - 1} open files; its store needs {of_store}, " in str(refused.value)
    assert f"`ulimit -n {wanted}`" in str(refused.value)
    # With this many there is room for the store's files and for connections.
    check_files(wanted - connections_within(1_000_000, wanted), of_store)


def test_nothing_is_said_where_there_is_enough(caplog: pytest.LogCaptureFixture) -> None:
    assert connections_within(10_000, 20_000) == 10_000
    assert connections_within(10_000, sys.maxsize) == 10_000
    assert queues_within(30_000, sys.maxsize) == 30_000
    assert not caplog.text


def test_of_the_files_of_the_store_a_quarter_is_left_for_its_log() -> None:
    assert queues_within(30_000, 20_000) == 7_500


def test_all_servers_of_a_process_share_what_there_is() -> None:
    sockets = Sockets(4)
    assert [sockets.take(), sockets.take(), sockets.take()] == [True, True, False]
    sockets.give_back()
    assert sockets.take()
