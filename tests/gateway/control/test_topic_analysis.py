"""Requirements of `gateway.control.topic_analysis`."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.control.topic_analysis import Sample
from tests.gateway.control.conftest import Control


def analyze(control: Control, topic: str, **body: Any) -> Any:
    """Return the answer to an analysis by somebody who may not read bodies."""
    answer = control.call("POST", f"/topics/{topic}:analyze", role="viewer", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_sizes_keys_and_tags_of_the_newest_messages_are_told(control: Control) -> None:
    name = control.topic(queues=2)
    control.produce(name, "a", "b", tag="paid", keys=["A17"])
    control.produce(name, "c", tag="open", keys=["A17", "A18"])
    found = analyze(control, name)
    assert (found["sampled"], found["complete"], found["missing"]) == (3, True, [])
    assert found["keys"] == {"messages": 3, "distinct": 2, "repeated": [{"name": "A17", "messages": 3}]}
    assert found["tags"]["most"] == [{"name": "paid", "messages": 2}, {"name": "open", "messages": 1}]
    sizes = [row["size_bytes"] for row in control.get(f"/topics/{name}/messages")["items"]]
    assert (found["sizes"]["smallest"], found["sizes"]["largest"]) == (min(sizes), max(sizes))
    # and a smaller sample has the newest, and says that there are more
    newest = analyze(control, name, sample=1)
    assert (newest["sampled"], newest["complete"], newest["tags"]["most"][0]["name"]) == (1, False, "open")


def test_nothing_follows_from_an_empty_topic(control: Control) -> None:
    found = analyze(control, control.topic())
    assert (found["sampled"], found["complete"], found["sizes"], found["oldest"]) == (0, True, None, None)


def test_what_cannot_be_analyzed_is_refused(control: Control) -> None:
    assert control.call("POST", "/topics/nobody-made-this:analyze", json={}).status_code == 404
    answer = control.call("POST", f"/topics/{control.topic()}:analyze", json={"sample": 5_001})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/sample")


@pytest.mark.parametrize(("count", "p50", "p90", "p99"), [(1, 1, 1, 1), (10, 5, 9, 10), (1000, 500, 900, 990)])
def test_a_percentile_is_the_size_of_one_of_the_messages(count: int, p50: int, p90: int, p99: int) -> None:
    sizes = Sample(sizes=list(range(count, 0, -1))).analysis([]).sizes
    assert sizes is not None
    assert (sizes.p50, sizes.p90, sizes.p99) == (p50, p90, p99)
