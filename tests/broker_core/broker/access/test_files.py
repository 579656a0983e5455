"""The files of accounts: several, read again when they change, replaced as a whole."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from broker_core.broker.access import files
from broker_core.broker.access.access import Access
from broker_core.broker.access.files import AccessFiles
from broker_core.broker.errors import AccountIllegal, AccountUnknown, BadConfigFile, CannotStart
from broker_core.protocol.bodies.access import PlainAccessConfig
from broker_core.protocol.bodies.topics import DataVersion
from tests.support.broker import started

NOW = 1_700_000_000_000


def account(name: str, **fields: object) -> PlainAccessConfig:
    return PlainAccessConfig(name, "a-secret-key", **fields)  # type: ignore[arg-type]


def text(*names: str) -> str:
    return "accounts:\n" + "".join(f"- {{accessKey: {name}, secretKey: a-secret-key}}\n" for name in names)


async def no_pause(_: float) -> None:
    """Look again at once."""


async def look_twice(access: Access) -> None:
    for _ in range(2):
        await access.reload(NOW)


@pytest.fixture
def access(tmp_path: Path) -> Iterator[Access]:
    with ThreadPoolExecutor(1) as executor:
        yield Access(AccessFiles(tmp_path), executor, lambda: NOW, no_pause)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def names(access: Access) -> list[str]:
    return sorted(access.table.accounts)


async def test_accounts_come_from_all_files(tmp_path: Path, access: Access) -> None:
    (tmp_path / "acl" / "deep").mkdir(parents=True)
    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    (tmp_path / "acl" / "b.yaml").write_text(text("account-b"))
    (tmp_path / "acl" / "deep" / "c.yml").write_text(text("account-c"))
    (tmp_path / "acl" / "tools.yml").write_text("accessKey: of-mqadmin\n")
    (tmp_path / "acl" / "notes.txt").write_text("no accounts\n")
    access.load()

    assert names(access) == ["account-a", "account-b", "account-c"]


async def test_an_account_in_two_files_stops_the_start(tmp_path: Path, access: Access) -> None:
    (tmp_path / "acl").mkdir()
    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    (tmp_path / "acl" / "b.yml").write_text(text("account-a"))
    with pytest.raises(BadConfigFile, match=r"b\.yml: the account account-a is in .*plain_acl\.yml too"):
        access.load()


async def test_files_that_come_change_and_go(tmp_path: Path, access: Access) -> None:
    access.load()
    assert names(access) == []

    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    await look_twice(access)
    assert names(access) == ["account-a"]

    (tmp_path / "plain_acl.yml").write_text(text("account-a", "account-b"))
    await look_twice(access)
    assert names(access) == ["account-a", "account-b"]

    (tmp_path / "plain_acl.yml").unlink()
    await look_twice(access)
    assert names(access) == []


async def test_a_broken_file_changes_nothing_and_is_named(
    tmp_path: Path, access: Access, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    access.load()
    (tmp_path / "plain_acl.yml").write_text(text("account-a", "tiny"))
    await look_twice(access)
    await look_twice(access)

    assert names(access) == ["account-a"]
    said = [each.message for each in caplog.records if "not used" in each.message]
    assert len(said) == 1
    assert "plain_acl.yml: line 3: the accessKey must be longer than 6 characters" in said[0]

    (tmp_path / "plain_acl.yml").write_text(text("account-a", "account-b"))
    await look_twice(access)
    assert names(access) == ["account-a", "account-b"]


async def test_accounts_that_vanish_are_named(tmp_path: Path, access: Access, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "plain_acl.yml"
    file.write_text(text("account-a", "account-b", "account-c"))
    access.load()
    file.write_text(text("account-b", "account-d"))
    await look_twice(access)
    assert "access: no longer there: account-a, account-c; what they sign is refused" in caplog.text
    assert "every request is refused" not in caplog.text
    file.write_text("")
    file.chmod(0o644)
    await look_twice(access)
    assert f"access: there are no accounts in {file}, so every request is refused" in caplog.text
    assert f"can read the secrets in {file}" in caplog.text


async def test_a_file_that_is_being_written_is_not_used(tmp_path: Path, access: Access) -> None:
    file = tmp_path / "plain_acl.yml"
    file.write_text(text("account-a"))
    access.load()
    half = "accounts:\n- accessKey: account-b\n  secretKey: a-secret-key\n  defaultTopicPerm: PUB|SUB\n"
    file.write_text(half)
    await access.reload(NOW)
    assert names(access) == ["account-a"]
    file.write_text(half + "  topicPerms:\n  - secret=DENY\n")
    await access.reload(NOW)
    assert names(access) == ["account-a"]
    await access.reload(NOW)
    assert len(access.table.accounts["account-b"].listed) == 1


async def test_a_change_waits_until_the_files_are_written(tmp_path: Path) -> None:
    file = tmp_path / "plain_acl.yml"
    rest = iter([text("account-a", "account-b"), text("account-a", "account-b", "account-c")])

    async def write_on(_: float) -> None:
        if (more := next(rest, None)) is not None:
            file.write_text(more)

    with ThreadPoolExecutor(1) as executor:
        access = Access(AccessFiles(tmp_path), executor, lambda: NOW, write_on)
        file.write_text(text("account-a"))
        await access.put_account(account("account-d"))
        assert names(access) == ["account-a", "account-b", "account-c", "account-d"]


async def test_a_change_is_refused_while_somebody_goes_on_writing(tmp_path: Path) -> None:
    file = tmp_path / "plain_acl.yml"

    async def write_on(_: float) -> None:
        file.write_text(file.read_text() + "# more\n")

    with ThreadPoolExecutor(1) as executor:
        access = Access(AccessFiles(tmp_path), executor, lambda: NOW, write_on)
        file.write_text(text("account-a"))
        with pytest.raises(BadConfigFile, match="are being written, try again"):
            await access.put_account(account("account-b"))


async def test_a_broken_file_stops_the_start_of_the_broker(tmp_path: Path) -> None:
    config = tmp_path / "store" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text("accounts: 7\n")
    with pytest.raises(CannotStart, match=r"plain_acl\.yml: line 1: a list is expected here"):
        async with started(tmp_path / "store", access_control=True):
            pass


async def test_a_new_account_is_written_for_the_owner_alone(tmp_path: Path, access: Access) -> None:
    access.load()
    await access.put_account(account("account-a", topic_perms=["orders=PUB"]))

    file = tmp_path / "plain_acl.yml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert AccessFiles(tmp_path).read() == access.table
    assert access.table.documents[file].version == DataVersion(1, NOW)
    assert names_in(tmp_path) == ["plain_acl.yml"]


async def test_a_change_stays_in_its_file_and_keeps_what_it_leaves_out(tmp_path: Path, access: Access) -> None:
    (tmp_path / "acl").mkdir()
    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    file = tmp_path / "acl" / "b.yml"
    file.write_text(text("account-b", "account-c"))
    file.chmod(0o640)
    access.load()
    await access.put_account(account("account-b", topic_perms=["orders=PUB"], default_group_perm="SUB"))
    await access.put_account(PlainAccessConfig("account-b", "another-secret", admin=True, topic_perms=[]))

    changed = access.table.accounts["account-b"]
    assert (changed.secret_key, changed.is_admin, dict(changed.listed)) == ("another-secret", True, {})
    stored = access.table.documents[file]
    assert [each.access_key for each in stored.accounts] == ["account-c", "account-b"]
    assert stored.accounts[1].default_group_perm == "SUB"
    assert stored.version.counter == 2
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (tmp_path / "plain_acl.yml").read_text() == text("account-a")


async def test_accounts_that_are_deleted(tmp_path: Path, access: Access) -> None:
    (tmp_path / "plain_acl.yml").write_text(text("account-a", "account-b"))
    access.load()
    await access.delete_account("account-a")

    assert names(access) == ["account-b"]
    with pytest.raises(AccountUnknown, match="account-a"):
        await access.delete_account("account-a")


async def test_what_an_editor_wrote_a_moment_ago_is_kept(tmp_path: Path, access: Access) -> None:
    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    access.load()
    (tmp_path / "plain_acl.yml").write_text(text("account-a", "account-b"))
    await access.put_account(account("account-c"))

    assert names(access) == ["account-a", "account-b", "account-c"]


async def test_changes_at_the_same_time_are_all_made(access: Access) -> None:
    access.load()
    await asyncio.gather(*(access.put_account(account(f"account-{number}")) for number in range(10)))

    assert len(names(access)) == 10


async def test_addresses_for_all_go_to_a_file_that_is_there(tmp_path: Path, access: Access) -> None:
    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    access.load()
    await access.put_global_white(["10.0.0.*"], None)
    assert access.table.documents[tmp_path / "plain_acl.yml"].global_white == ("10.0.0.*",)

    with pytest.raises(AccountIllegal, match="is not an account file of this broker"):
        await access.put_global_white(["*"], tmp_path / "elsewhere.yml")
    with pytest.raises(AccountIllegal, match="too large"):
        await access.put_global_white(["10.0.0.300"], None)
    await access.put_global_white([], tmp_path / "plain_acl.yml")
    assert access.table.global_white == ()


async def test_an_illegal_account_is_not_written(tmp_path: Path, access: Access) -> None:
    access.load()
    with pytest.raises(AccountIllegal, match="'ALL' is not a right"):
        await access.put_account(account("account-a", topic_perms=["orders=ALL"]))
    assert not (tmp_path / "plain_acl.yml").exists()


async def test_a_file_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain_acl.yml").write_text(text("account-a"))
    access.load()
    monkeypatch.setattr(files, "MAX_BYTES", 300)
    with pytest.raises(AccountIllegal, match=r"plain_acl\.yml would have \d+ bytes, more than the limit of 300"):
        await access.put_account(account("account-b", topic_perms=[f"orders-{number}=PUB" for number in range(20)]))
    assert (tmp_path / "plain_acl.yml").read_text() == text("account-a")
    assert names(access) == ["account-a"]


async def test_an_account_of_too_many_rights_is_refused(access: Access) -> None:
    access.load()
    topics = [f"orders-{number}=PUB" for number in range(1_999)]
    with pytest.raises(AccountIllegal, match="the account account-a lists 2001 rights, more than the limit of 2000"):
        await access.put_account(account("account-a", topic_perms=topics, group_perms=["a=SUB", "b=SUB"]))


async def test_a_file_that_everybody_can_read_is_named_once(
    tmp_path: Path, access: Access, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "plain_acl.yml"
    file.write_text(text("account-a"))
    file.chmod(0o600)
    access.load()
    assert "can read" not in caplog.text
    file.chmod(0o644)
    access.load()
    await look_twice(access)
    assert caplog.text.count(f"access: every user of this machine can read the secrets in {file}: chmod 600") == 1
