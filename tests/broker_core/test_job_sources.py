"""Files and databases that jobs may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.job_sources import MOST_KEY_BYTES, MOST_KEYS, SourceRefused, connection_named, files_below, keys_in


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two files, beside a secret."""
    made = tmp_path / "files"
    (made / "day").mkdir(parents=True)
    for name in ("day/b.csv", "day/a.csv", "day/a.parquet"):
        (made / name).touch()
    (tmp_path / "secret.csv").touch()
    (made / "out.csv").symlink_to(tmp_path / "secret.csv")
    (made / "up").symlink_to(tmp_path)
    (made / "links").mkdir()
    (made / "links" / "x.csv").symlink_to(tmp_path / "secret.csv")
    (made / "empty").mkdir()
    (made / "empty" / ".hidden.csv").touch()
    return made


def test_a_path_names_a_file_or_all_files_of_a_folder(folder: Path) -> None:
    assert files_below(folder, "day/a.csv", ".csv") == [folder / "day" / "a.csv"]
    assert files_below(folder, "day", ".csv") == [folder / "day" / "a.csv", folder / "day" / "b.csv"]


def test_hidden_files_and_folders_of_a_folder_are_not_read(folder: Path) -> None:
    for name in (".a.csv", "_a.csv"):
        (folder / "day" / name).touch()
    (folder / "day" / "c.csv").mkdir()
    assert [file.name for file in files_below(folder, "day", ".csv")] == ["a.csv", "b.csv"]
    assert files_below(folder, "day/.a.csv", ".csv") == [folder / "day" / ".a.csv"]


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("../secret.csv", "without '..'"),
        ("day/../../secret.csv", "without '..'"),
        ("/etc/passwd", "below the folder"),
        ("out.csv", "symbolic link"),
        ("up/secret.csv", "symbolic link"),
        ("up", "symbolic link"),
        ("links", "symbolic link"),
        ("day/none.csv", "names no file"),
        ("day/a\0.csv", "below the folder"),
        ("empty", "without .csv files"),
        ("x" * 300, "no file that can be read"),
        ("\ud800.csv", "no file that can be read"),
    ],
)
def test_a_path_never_leads_out_of_the_folder(folder: Path, path: str, fault: str) -> None:
    with pytest.raises(SourceRefused, match=fault):
        files_below(folder, path, ".csv")


def test_without_the_setting_nothing_is_read() -> None:
    with pytest.raises(SourceRefused, match="GANTRY_JOBS_FILES is not set"):
        files_below(None, "a.csv", ".csv")
    with pytest.raises(SourceRefused, match="GANTRY_JOBS_DATABASES is not set"):
        connection_named(None, "shop")


def test_connections_are_read_from_a_service_file(tmp_path: Path) -> None:
    file = tmp_path / "pg_service.conf"
    file.write_text("# ours\n[shop]\nhost=db\nport=5433\npassword=a%b=c\n\n[books]\ndbname=books\n")
    assert connection_named(file, "shop") == {"host": "db", "port": "5433", "password": "a%b=c"}
    with pytest.raises(SourceRefused, match="which has: books, shop"):
        connection_named(file, "till")


@pytest.mark.parametrize("text", ["host=db password=hunter2", "[shop]\nhunter2 = 1\n", "[shop]\nhost"])
def test_a_file_that_is_none_is_refused_without_what_it_says(tmp_path: Path, text: str) -> None:
    file = tmp_path / "pg_service.conf"
    file.write_text(text)
    with pytest.raises(SourceRefused) as refused:
        connection_named(file, "shop")
    assert "password=hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"\n \n", "has no key"),
        (b"A1\nA 2\n", "line 2 has a space"),
        (b"\xff", "line 1 has the byte 0xff"),
        (b"\xff\xfeA\0", "is in UTF-16"),
        (
            b"\n".join(b"%d" % number for number in range(MOST_KEYS + 1)),
            "has 100,001 keys; a job looks for at most 100,000",
        ),
        (b"A" * (MOST_KEY_BYTES + 1), "has 10,485,761 bytes; a file of keys may have 10,485,760"),
    ],
)
def test_a_file_of_keys_has_one_a_line_and_tells_its_limits(tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / "keys").write_bytes(content)
    with pytest.raises(SourceRefused, match=fault):
        keys_in(tmp_path, "keys")


@pytest.mark.parametrize("path", ["day", ".", "empty", "day/"])
def test_the_keys_of_a_folder_are_not_read(folder: Path, path: str) -> None:
    with pytest.raises(SourceRefused, match=r"^names a folder; name one file$"):
        keys_in(folder, path)


def test_a_file_of_keys_may_have_a_byte_order_mark(tmp_path: Path) -> None:
    """docs/http-api.md: a byte order mark of UTF-8 in front is left out, other encodings are refused."""
    (tmp_path / "keys").write_bytes(b"\xef\xbb\xbfA1\r\n")
    assert keys_in(tmp_path, "keys") == ["A1"]


def test_the_name_of_a_file_of_keys_ends_in_no_slash(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("A1\n")
    with pytest.raises(SourceRefused, match=r"^ends in '/', as the name of a file does not$"):
        keys_in(tmp_path, "keys/")
