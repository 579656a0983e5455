"""A row of equally long files that together contain one stream of bytes (store/README.md#rows-of-files).

The first file need not start at 0, since old files are dropped; each file starts where the previous one ends. Only the
last is written to.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Final, Self

from broker_core.store.errors import Corrupt
from broker_core.store.layout import segment_name, sized_segments
from broker_core.store.mapped_file import LazyFile, MappedFile, sync_folder

_start: Final = attrgetter("start")


class MappedFiles:
    """The files of one folder, in order; positions count from the beginning of the stream."""

    def __init__(self, folder: Path, *, file_size: int, reserve_bytes: int, scratch: Path, lazy: bool = False) -> None:
        """Start without files; new files are created in `scratch` before they get their names."""
        self._kind = LazyFile if lazy else MappedFile
        self.folder = folder
        self.file_size = file_size
        self._files: list[MappedFile] = []
        self._reserve_bytes = reserve_bytes
        self._scratch = scratch
        # How often a name was added or cut off, and how many of these changes of the folder are surely on the disk.
        self._added = 0
        self._named = 0

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        file_size: int,
        reserve_bytes: int,
        scratch: Path,
        writable: bool = True,
        lazy: bool = False,
    ) -> Self:
        """Map the files in `folder`; every file counts as completely written. An existing row keeps its file size.

        With `lazy` each file is mapped at its first use.

        A short file at the end results from a power failure during its creation, or from a copy without the zeros: if
        it is empty it is removed, otherwise its length is restored. Any other wrong length or a gap raises Corrupt.
        """
        found = sized_segments(folder)
        if found:
            file_size = found[0][1] or file_size
        row = cls(folder, file_size=file_size, reserve_bytes=reserve_bytes, scratch=scratch, lazy=lazy)
        if found and writable:
            _repair_last(found, file_size)
        for path, size in found:
            if writable or size:
                row._take(path, size, is_last=path == found[-1][0], writable=writable, lazy=lazy)
        return row

    def _take(self, path: Path, size: int, *, is_last: bool, writable: bool, lazy: bool) -> None:
        start = int(path.name)
        if size != self.file_size and not (is_last and size < self.file_size and not writable):
            raise Corrupt(path, f"its length is {size}, that of its neighbours {self.file_size}")
        if self._files and start != self._files[-1].start + self.file_size:
            raise Corrupt(path, f"the file before it ends at {self._files[-1].start + self.file_size}")
        self._files.append(
            self._kind(
                path,
                start=start,
                wrote=size,
                reserve_bytes=self._reserve_bytes,
                writable=writable,
                size=size if lazy else None,
            )
        )

    def __iter__(self) -> Iterator[MappedFile]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, number: int) -> MappedFile:
        return self._files[number]

    @property
    def last(self) -> MappedFile | None:
        """The file that is being written to, if any."""
        return self._files[-1] if self._files else None

    @property
    def begin(self) -> int:
        """The first position; 0 without files."""
        return self._files[0].start if self._files else 0

    @property
    def end(self) -> int:
        """The position after the last written byte; 0 without files."""
        return self._files[-1].end if self._files else 0

    def find(self, position: int) -> MappedFile | None:
        """Return the file that covers `position`, written or not."""
        if not self._files:
            return None
        index = (position - self._files[0].start) // self.file_size
        return self._files[index] if 0 <= index < len(self._files) else None

    def roll(self, data: bytes = b"", *, at: int | None = None) -> MappedFile:
        """Add and return a file that begins with `data`. `at` is the start of the first file of a row."""
        start = self._files[-1].start + self.file_size if self._files else (at or 0) // self.file_size * self.file_size
        file = self._kind.create(
            self.folder / segment_name(start),
            size=self.file_size,
            start=start,
            reserve_bytes=self._reserve_bytes,
            scratch=self._scratch,
            data=data,
        )
        self._added += 1
        self._files.append(file)
        return file

    def cut(self, position: int) -> None:
        """Drop everything from `position` on: later files, and the rest of the file that covers it."""
        while len(self._files) > 1 and self._files[-1].start >= position:
            self._drop_last()
        if self._files:
            self._files[-1].cut(max(0, min(position - self._files[-1].start, self.file_size)))

    def keep(self, count: int) -> None:
        """Remove all files but the first `count`."""
        while len(self._files) > count:
            self._drop_last()

    def _drop_last(self) -> None:
        self._files.pop().delete()
        self._added += 1

    def drop_first(self) -> None:
        """Remove the oldest file."""
        self._files.pop(0).delete()

    def forget_last(self) -> None:
        """Forget the last file, which stays on the disk."""
        self._files.pop().release()

    @property
    def is_named(self) -> bool:
        """Whether the names of all files are on the disk."""
        return self._named >= self._added

    def only_from(self, position: int) -> MappedFile | None:
        """Return the last file if it contains everything written from `position` on."""
        last = self.last
        return last if last is not None and last.start <= position else None

    def sync(self, position: int) -> int:
        """Wait until everything written so far from `position` on is on the disk; other threads run in the meantime.

        Returns the time for the data, in ns. Two threads may wait at the same time.
        """
        files, added = list(self._files), self._added
        took = sum([file.sync() for file in files[max(0, bisect_right(files, position, key=_start) - 1) :]])
        if self._named < added:
            sync_folder(self.folder)
            self._named = max(self._named, added)
        return took

    def release(self) -> None:
        """Unmap all files until they are needed again."""
        for file in self._files:
            file.release()

    @property
    def added(self) -> int:
        """How many files were added since the row was loaded, or removed at its end."""
        return self._added

    def mark_named(self, added: int) -> None:
        """Record that the folder is on the disk as it was when this was `added`."""
        self._named = max(self._named, added)

    def close(self) -> None:
        """Close all files."""
        while self._files:
            self.forget_last()


def _repair_last(found: list[tuple[Path, int]], file_size: int) -> None:
    """Remove empty files at the end of `found`, and restore the length of the last file if it is short."""
    while found and found[-1][1] == 0:
        found.pop()[0].unlink()
    if found and found[-1][1] < file_size:
        path, _ = found[-1]
        os.truncate(path, file_size)
        found[-1] = path, file_size
