"""A run of sends that one call stores (broker/README.md#runs-of-sends)."""

from __future__ import annotations

from typing import Final, NamedTuple


class SendPlan(NamedTuple):
    """What the sends of a run have in common. `native/src/sends.c` lists the fields in the same order.

    The forms are those of `protocol.header_form`; `encoded_topic` is as records have it, with its length. Sizes are in
    bytes. `added` is the property text that the broker adds to each; `only_waiting` leaves out the sends that do not
    wait for the disk.
    """

    request: tuple[bytes, ...]
    request_cuts: bytes
    answer: tuple[bytes, ...]
    answer_cuts: bytes
    topic: str
    encoded_topic: bytes
    queues: int
    flag: int
    sys_flag: int
    reconsume_times: int
    born_host: bytes
    store_host: bytes
    added: str
    longest_body: int
    longest_text: int
    only_waiting: bool


class StoredSends(NamedTuple):
    """How many sends of a run were stored, the log offset behind them, their bytes there, and the answers' frames."""

    sends: int
    end: int
    size: int
    answers: bytes


NOTHING_STORED: Final = StoredSends(0, 0, 0, b"")
