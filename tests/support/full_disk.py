"""A disk without room for whole new files, within this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from unittest.mock import patch

from broker_core.store import checkpoint
from broker_core.store.layout import NEW_PREFIX


@contextmanager
def no_room(is_full: Callable[[Path], bool] = lambda _: True) -> Iterator[None]:
    """Let no small file be replaced for whose new content, by its path, `is_full` is true; mapped files have room."""
    opened, written = Path.open, checkpoint._write

    def check(path: Path) -> None:
        if is_full(path):
            raise OSError(ENOSPC, "no room", str(path))

    def open_file(path: Path, mode: str = "r", **more: str) -> object:
        if mode == "wb":
            check(path)
        return opened(path, mode, **more)  # type: ignore[call-overload]

    def write(path: Path, *more: object) -> None:
        if path.name.startswith(NEW_PREFIX):
            check(path)
        written(path, *more)  # type: ignore[arg-type]

    with patch.object(Path, "open", open_file), patch.object(checkpoint, "_write", write):
        yield
