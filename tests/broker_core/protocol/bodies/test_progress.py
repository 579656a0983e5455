"""The session of a broker's answer: what readers sign when they send it back cannot be text of anybody's choice."""

from __future__ import annotations

import pytest

from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.progress import Progress
from broker_core.protocol.errors import MalformedBody


@pytest.mark.parametrize("session", ["0123456789abcdef", ""])
def test_sessions_of_brokers_are_read(session: str) -> None:
    assert coder.decode(Progress, coder.encode(Progress(session=session, version=7))).session == session


@pytest.mark.parametrize(
    "session",
    ["trueevilsecret1", "0123", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdef\n", "\u0660" * 16],
)
def test_any_other_session_is_malformed(session: str) -> None:
    with pytest.raises(MalformedBody, match="not 8 bytes in hexadecimal digits"):
        coder.decode(Progress, b'{"session":"%s","version":1}' % session.replace("\n", "\\n").encode())
