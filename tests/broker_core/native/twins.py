"""Shared by the tests of the twins: the compiled module, and texts that are rich in significant characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pytest
from hypothesis import strategies as st

from broker_core.native import is_turned_off, native, why_not
from broker_core.native.build import CannotCompile, find_tools
from broker_core.protocol import header_json
from broker_core.protocol.codes import LanguageCode

try:
    find_tools()
except CannotCompile as lacking:
    pytest.skip(f"the compiled functions cannot be built: {lacking}", allow_module_level=True)
if native is None and is_turned_off():
    pytest.skip(f"the compiled functions are not tested: {why_not}", allow_module_level=True)
assert native is not None, why_not
compiled: Final = native

LANGUAGES: Final = {each.name: int(each) for each in LanguageCode}
TOPIC: Final = b"\x05topic"
TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
I32: Final = st.integers(-(1 << 31), (1 << 31) - 1)
I64: Final = st.integers(-(1 << 63), (1 << 63) - 1)
SPECIAL: Final = ("DELAY", "TRAN_MSG", "CLUSTER", "POP_CK", "1ST_POP_TIME", "TIMER_DELAY_MS")
NAMES: Final = ("WAIT", "TAGS", "KEYS", "UNIQ_KEY", *SPECIAL)
OTHERS: Final = ("true", "TRUE", "false", " ", "a", "b c", "é", "蛇", "🐍", "\0", "\xff")
SEPARATORS: Final = ("\x01", "\x02") * 4
PIECES: Final = st.sampled_from((*NAMES, *OTHERS, *SEPARATORS))
PAIRS: Final = st.lists(st.tuples(st.sampled_from((*NAMES, "a")), TEXT), max_size=5).map(
    lambda pairs: "\x02".join(f"{name}\x01{value}" for name, value in pairs)
)
TEXTS: Final = st.one_of(st.lists(PIECES, max_size=14).map("".join), PAIRS)

WRITTEN: Final = header_json.encode(10, {"b": "top\x01ic", "é": "蛇\x7f"}, 7, 0, "re", LANGUAGES["JAVA"], 399)


@dataclass(eq=False)
class Queue:
    """The parts of a consume queue that the twins use."""

    topic: str
    encoded_topic: bytes = TOPIC
    queue_id: int = 3
    next_offset: int = 40


QUEUES: Final = (Queue("topic"), Queue("蛇🐍"), Queue("a-much-longer-name-of-a-topic"))
