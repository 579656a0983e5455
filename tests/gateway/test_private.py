"""Requirements of `gateway.private`, and of the umask of every process."""

from __future__ import annotations

import os
from pathlib import Path

from gateway.private import make_private
from tests.gateway.installation import running_installation
from tests.support.cluster import RunningBroker


def open_to_others(folder: Path) -> list[str]:
    """Return the files to which group or others have any access."""
    found = [folder, *folder.rglob("*")]
    return [str(path) for path in found if path.lstat().st_mode & 0o077 and not path.is_symlink()]


def test_what_lies_open_in_a_data_folder_is_closed(tmp_path: Path) -> None:
    # Given an installation created under umask 0, with another file in its folder and a link to the outside
    folder, outside, own = tmp_path / "data", tmp_path / "outside", tmp_path / "data" / "notes.txt"
    for name in (
        "broker/consumequeue/orders/0/00000000000000000000",
        "jobs/1/log",
        "secret.key",
        "tools.yml",
        "gantry.sqlite3-wal",
    ):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    outside.write_text("x")
    own.write_text("x")
    (folder / "broker" / "link").symlink_to(outside)
    for path in (outside, *folder.rglob("*"), folder):
        path.chmod(0o777 if path.is_dir() else 0o666)
    # When it is made private
    make_private(folder)
    # Then others can read only that file and the files outside
    assert open_to_others(folder) == [str(own)]
    assert outside.stat().st_mode & 0o777 == 0o666
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_gateway_started_under_umask_0_makes_nothing_that_others_may_read(
    tmp_path: Path, shared_broker: RunningBroker, redis_url: str
) -> None:
    before = os.umask(0)
    try:
        data = tmp_path / "data"
        with running_installation(data, name_server=shared_broker.name_server, redis_url=redis_url) as installation:
            log = installation.data / "gateway.log"  # the test's own
            log.chmod(0o600)
            assert open_to_others(data) == []
            assert (data / "gantry.sqlite3").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)
