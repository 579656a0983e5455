"""The address at which clients find the broker."""

from __future__ import annotations

import pytest

from broker_core.broker.address import advertised_host, ip_of
from broker_core.broker.errors import CannotStart


def test_clients_get_the_configured_host_else_the_bound_one() -> None:
    assert advertised_host("127.0.0.1", "broker.example") == "broker.example"
    assert advertised_host("10.0.0.5", None) == "10.0.0.5"


def test_a_broker_that_listens_everywhere_reports_an_address_that_can_be_reached() -> None:
    assert advertised_host("0.0.0.0", None) not in ("0.0.0.0", "")


def test_a_name_has_an_ip_address() -> None:
    assert ip_of("localhost") in ("127.0.0.1", "::1")
    assert ip_of("10.0.0.5") == "10.0.0.5"


def test_an_unknown_name_stops_the_start() -> None:
    with pytest.raises(CannotStart, match="no-such-host"):
        ip_of("no-such-host.invalid")
