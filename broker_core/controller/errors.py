"""What controllers answer to a command that changes nothing (controller/README.md#refusals)."""

from __future__ import annotations

from broker_core.errors import GantryError
from broker_core.protocol.codes import ResponseCode


class Refused(GantryError):
    """A command is not carried out, with the code and the sentence of the answer."""

    def __init__(self, code: ResponseCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
