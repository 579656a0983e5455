"""Requirements of `console.offsets.services`: what a row says of a queue whose broker failed."""

from __future__ import annotations

import pytest

from broker_core.client.answers import Answers
from broker_core.client.errors import Unreachable
from console.offsets.services import _moved, _Target


@pytest.mark.parametrize(("was_sent", "done"), [(True, None), (False, False)])
def test_a_queue_is_not_called_unmoved_where_its_broker_may_have_moved_it(was_sent: bool, done: bool | None) -> None:
    silent = Unreachable("127.0.0.1:10911", "the connection is closed", was_sent=was_sent)
    answers: Answers[None] = Answers(found={"orders@broker-a@0": None}, failed={"orders@broker-b@0": silent})
    target = _Target("local", "billing", "orders")

    assert _moved(target, ("broker-a", 0), 1, 2, answers).done is True
    assert _moved(target, ("broker-b", 0), 1, 2, answers).done is done
