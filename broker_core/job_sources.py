"""What jobs may read beside topics: files below one folder, and databases that a file of the server names."""

from __future__ import annotations

import configparser
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from broker_core.errors import GantryError
from broker_core.key_lines import KeysMalformed, keys_of

# A connection has what libpq knows; the rest of a section would be ignored in silence.
_CONNECTION: Final = frozenset({
    "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "connect_timeout", "sslmode", "sslrootcert",
    "sslcert", "sslkey", "options", "application_name", "target_session_attrs", "channel_binding", "krbsrvname",
})  # fmt: skip


MOST_KEYS: Final = 100_000
MOST_KEY_BYTES: Final = 10 << 20


class SourceRefused(GantryError):
    """A file or a connection that jobs may not read, or that is not there; the message is for the user."""


def files_below(folder: Path | None, path: str, suffix: str) -> list[Path]:
    """Return the files that a path names: one, or all of a folder that end with `suffix`, sorted by name.

    Those that begin with `.` or `_` are hidden, as for Spark and Hive, and folders within the folder are not read.
    Without a suffix only one file can be named.
    Raises SourceRefused for a path that leads out of `folder`, also by a symbolic link, and where nothing is found.
    """
    if folder is None:
        raise SourceRefused("this server lets jobs read no files: GANTRY_JOBS_FILES is not set")
    if "\0" in path or Path(path).is_absolute() or ".." in Path(path).parts:
        raise SourceRefused("must be a path below the folder of GANTRY_JOBS_FILES, without '..'")
    try:
        return _files(folder.resolve(), path, suffix)
    except (OSError, ValueError) as error:
        # A name that is too long, or has characters that no file has.
        raise SourceRefused("names no file that can be read") from error


def keys_in(folder: Path | None, path: str) -> list[str]:
    """Return the keys of a text file below `folder`, which has one a line, each once and in order.

    Raises SourceRefused as `files_below`, for a folder, for a file as `keys_of` does, and for one with too many keys.
    """
    (file,) = files_below(folder, path, "")
    if path.endswith("/"):
        raise SourceRefused("ends in '/', as the name of a file does not")
    try:
        size = file.stat().st_size
        if size > MOST_KEY_BYTES:
            raise SourceRefused(f"has {size:,} bytes; a file of keys may have {MOST_KEY_BYTES:,}")
        found = keys_of(file.read_bytes())
    except OSError as error:
        raise SourceRefused(f"cannot be read: {error.strerror}") from error
    except KeysMalformed as error:
        raise SourceRefused(str(error)) from error
    if len(found) > MOST_KEYS:
        raise SourceRefused(f"has {len(found):,} keys; a job looks for at most {MOST_KEYS:,}")
    return found


def _shown(files: Iterable[Path]) -> Iterator[Path]:
    return (file for file in files if not file.name.startswith((".", "_")))


def _files(root: Path, path: str, suffix: str) -> list[Path]:
    named = root / path
    found = sorted(_shown(named.glob(f"*{suffix}"))) if suffix and named.is_dir() else [named]
    for file in (named, *found):
        if not file.resolve().is_relative_to(root):
            raise SourceRefused("leads out of the folder of GANTRY_JOBS_FILES by a symbolic link")
    if not suffix and named.is_dir():
        raise SourceRefused("names a folder; name one file")
    files = [file for file in found if file.is_file()]
    if not files:
        raise SourceRefused(f"names a folder without {suffix} files" if named.is_dir() else "names no file")
    return files


def connections_of(file: Path | None) -> dict[str, Mapping[str, str]]:
    """Return the connections of a file in the form of libpq's service files, by name.

    Raises SourceRefused if the file cannot be read; its message has no content of the file.
    """
    if file is None:
        raise SourceRefused("this server lets jobs read no databases: GANTRY_JOBS_DATABASES is not set")
    parser = configparser.RawConfigParser(strict=True, delimiters=("=",), comment_prefixes=("#",))
    try:
        parser.read_string(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise SourceRefused(f"the file of GANTRY_JOBS_DATABASES cannot be read: {type(error).__name__}") from error
    except configparser.Error:
        raise SourceRefused("the file of GANTRY_JOBS_DATABASES is not in the form of a service file") from None
    found: dict[str, Mapping[str, str]] = {}
    for name in parser.sections():
        options = dict(parser[name])
        if unknown := sorted(options.keys() - _CONNECTION):
            raise SourceRefused(f"connection {name!r} in the file of GANTRY_JOBS_DATABASES has {', '.join(unknown)}")
        found[name] = options
    return found


def connection_named(file: Path | None, name: str) -> Mapping[str, str]:
    """Return a connection; raise SourceRefused, which names those that there are."""
    found = connections_of(file)
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise SourceRefused(f"is no connection of the file of GANTRY_JOBS_DATABASES, which has: {known}")
    return found[name]
