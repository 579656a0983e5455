"""Where others reach a server of this machine."""

from __future__ import annotations

import pytest

from broker_core.remoting.own_address import join, local_ip, reached_host


def test_an_ipv6_address_is_in_brackets() -> None:
    assert join("::1", 10911) == "[::1]:10911"
    assert join("10.0.0.5", 10911) == "10.0.0.5:10911"


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::", ""])
def test_a_server_that_listens_everywhere_is_reached_at_an_address_of_its_machine(everywhere: str) -> None:
    assert reached_host(everywhere) == local_ip() != everywhere


def test_a_server_that_listens_on_one_address_is_reached_there() -> None:
    assert reached_host("127.0.0.12") == "127.0.0.12"
