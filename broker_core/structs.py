"""Values of JSON as structs, in processes with threads."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)


def decoded(kind: type[T]) -> type[T]:
    """Decorate a struct that is decoded or converted to: what that takes is worked out now, in the importing thread.

    msgspec works it out when a struct is first read, and a second thread that reads it meanwhile ends the process with
    SIGSEGV.
    """
    msgspec.json.Decoder(kind)
    return kind
