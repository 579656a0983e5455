"""What a controller believes of an engine that it has not read yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Hearing
from broker_core.controller.seen import Seen
from broker_core.controller.states import States
from broker_core.controller.trust import Trust
from broker_core.protocol.codes import ResponseCode


async def test_nothing_is_decided_before_the_first_read_shows_whether_the_engine_was_set_back(tmp_path: Path) -> None:
    seen, states = Seen(tmp_path / "seen.json"), States()
    seen.mark()
    trust = Trust(seen, Hearing(0.0), states)
    with pytest.raises(Refused, match="has not read its decisions yet") as refused:
        trust.newest("b")
    assert refused.value.code is ResponseCode.CONTROLLER_NOT_LEADER

    states.begin_read()
    states.take_all(5, {}, 1.0)
    await trust.took(1.0)

    assert trust.newest("b") == (0, 0)
