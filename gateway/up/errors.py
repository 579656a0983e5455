"""The reasons why `make up` cannot start, each with a text of one line."""

from __future__ import annotations


class CannotStart(Exception):
    """Something must be fixed before the start; the text says what, and how."""


class PortTaken(CannotStart):
    """Another program listens on a port that Gantry needs."""

    def __init__(self, host: str, port: int, setting: str) -> None:
        super().__init__(
            f"port {port} on {host} is taken: stop the program that uses it, or choose another with {setting}"
        )
        self.port = port


class FolderInUse(CannotStart):
    """Another instance uses this data folder."""

    def __init__(self, folder: object, process_id: str) -> None:
        owner = f" (process {process_id})" if process_id else ""
        super().__init__(
            f"the data folder {folder} is in use by another Gantry{owner}: "
            "stop that one, or choose another folder with GANTRY_DATA_DIR"
        )


class NoRight(CannotStart):
    """This user may not do something that Gantry needs: open a file or listen on a port."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"no right to {what}: {remedy}")
