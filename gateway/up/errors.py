"""What keeps `make up` from starting, said in one line each."""

from __future__ import annotations


class CannotStart(Exception):
    """Raised when something must be mended first; the text says what it is and how to mend it."""


class PortTaken(CannotStart):
    """Another program listens on a port that we need."""

    def __init__(self, host: str, port: int, setting: str) -> None:
        super().__init__(
            f"port {port} on {host} is taken: stop the program that uses it, or choose another with {setting}"
        )
        self.port = port


class FolderInUse(CannotStart):
    """Another instance runs on this data folder."""

    def __init__(self, folder: object, process_id: str) -> None:
        owner = f" (process {process_id})" if process_id else ""
        super().__init__(
            f"the data folder {folder} is in use by another Gantry{owner}: "
            "stop that one, or choose another folder with GANTRY_DATA_DIR"
        )


class NoRight(CannotStart):
    """The file system or the network does not let us do what we need."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(f"no right to {what}: {mend}")
