"""Client ids are unique in the cluster."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from broker_core.client.config import ClientConfig, PushConfig, new_client_id


def test_two_sessions_of_a_process_have_different_client_ids() -> None:
    first, second = ClientConfig(["127.0.0.1:9876"]), ClientConfig(["127.0.0.1:9876"])

    assert first.client_id != second.client_id


def test_one_address_is_not_a_list_of_addresses() -> None:
    with pytest.raises(TypeError, match="host:port"):
        ClientConfig("127.0.0.1:9876")


def test_a_client_id_names_address_and_process() -> None:
    assert re.fullmatch(rf"[0-9.]+@{os.getpid()}#\d+", new_client_id())


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"start_from": "begin"}, "first, last or time"),
        ({"strategy": "RANDOM"}, "AVG_BY_CIRCLE"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"queue_max_bytes": 0}, "queue_max_bytes must be at least 1"),
    ],
)
def test_what_would_leave_a_consumer_silent_is_refused(wrong: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        PushConfig(**wrong)
