"""Requirements of `gateway.sockets`."""

from __future__ import annotations

import pytest

from gateway import sockets
from gateway.problems import (
    BODY_TOO_LARGE,
    DRAINING,
    FORBIDDEN,
    INVALID,
    NOT_AUTHENTICATED,
    RATE_LIMITED,
    TOPIC_NOT_FOUND,
    ProblemError,
    ProblemKind,
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (NOT_AUTHENTICATED, 4401),
        (FORBIDDEN, 4403),
        (TOPIC_NOT_FOUND, 4404),
        (BODY_TOO_LARGE, 4413),
        (RATE_LIMITED, 4429),
        (DRAINING, 4503),
        (INVALID, 4400),
    ],
)
def test_a_refusal_of_a_socket_is_told_by_its_close_code(kind: ProblemKind, code: int) -> None:
    assert sockets.close_code(ProblemError(kind, "no")) == code


def test_our_sub_protocol_is_chosen_only_when_it_was_offered() -> None:
    assert sockets.chosen_protocol({"subprotocols": ["other", "mqgw.v1.json"]}) == "mqgw.v1.json"
    assert sockets.chosen_protocol({"subprotocols": ["other"]}) is None
    assert sockets.chosen_protocol({}) is None


def test_a_client_that_offers_no_sub_protocol_is_served_and_one_with_others_alone_is_not() -> None:
    sockets.check_protocol({})
    sockets.check_protocol({"subprotocols": []})
    sockets.check_protocol({"subprotocols": ["other", "mqgw.v1.json"]})
    with pytest.raises(ProblemError, match=r"The sub-protocol of this socket is mqgw\.v1\.json; offered: other\."):
        sockets.check_protocol({"subprotocols": ["other"]})


def test_a_reason_is_cut_to_what_a_close_frame_holds_and_stays_text() -> None:
    assert len(sockets.close_reason("ü" * 200).encode()) <= 123
    assert sockets.close_reason("short") == "short"
