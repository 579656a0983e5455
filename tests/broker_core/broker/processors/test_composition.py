"""All processors together: every code has exactly one handler."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from broker_core.broker.processors.composition import processors_of
from broker_core.protocol.codes import RequestCode
from tests.support.broker import started


async def test_no_two_processors_answer_the_same_code(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        processors = processors_of(wire.broker.components)

    answered = Counter(code for processor in processors.all for code in processor.handlers())
    assert set(answered.values()) == {1}
    assert {RequestCode.PULL_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.HEART_BEAT} <= answered.keys()
