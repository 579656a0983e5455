"""Requirements of `gateway.control.pages`, `middleware` and `api_docs`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from tests.gateway.control.conftest import Control


@pytest.fixture
def browser(tmp_path: Path, settings: Settings) -> Client:
    """A browser and a built console."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>Gantry</title>")
    (tmp_path / "assets" / "index-Ab12Cd34.js").write_text("1")
    (tmp_path / "gantry.svg").write_text("<svg/>")
    settings.CONSOLE_FILES = tmp_path
    settings.WHITENOISE_ROOT = str(tmp_path)
    return Client(headers={"host": "localhost"})


@pytest.mark.parametrize("path", ["/", "/topics/orders", "/messages/AC11?topic=orders", "/login"])
def test_every_address_of_the_console_is_its_one_page(browser: Client, path: str) -> None:
    answer = browser.get(path)
    assert (answer.status_code, answer.content) == (200, b"<title>Gantry</title>")
    assert answer["Cache-Control"] == "no-cache"


def test_files_with_a_hash_in_their_name_are_kept_for_good(browser: Client) -> None:
    hashed, plain = browser.get("/assets/index-Ab12Cd34.js"), browser.get("/gantry.svg")
    assert (hashed.status_code, hashed.content) == (200, b"1")
    assert "immutable" in hashed["Cache-Control"]
    assert "immutable" not in plain["Cache-Control"]
    again = browser.get("/gantry.svg", headers={"if-none-match": plain["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_files_that_the_build_compressed_are_sent_so_to_those_who_ask(browser: Client, tmp_path: Path) -> None:
    (tmp_path / "assets" / "index-Ab12Cd34.js").write_text("1" * 2_000)
    (tmp_path / "assets" / "index-Ab12Cd34.js.br").write_bytes(b"small")
    packed = browser.get("/assets/index-Ab12Cd34.js", headers={"accept-encoding": "gzip, deflate, br"})
    assert (packed["Content-Encoding"], packed.content) == ("br", b"small")
    assert packed["Content-Type"].startswith("text/javascript")
    assert "Accept-Encoding" in packed["Vary"]
    assert browser.get("/assets/index-Ab12Cd34.js").content == b"1" * 2_000


def test_a_page_may_load_its_own_scripts_and_be_framed_by_nobody(browser: Client) -> None:
    for path in ("/", "/docs/api", "/api/v1/nothing", "/gantry.svg"):
        answer = browser.get(path)
        policy = answer["Content-Security-Policy"]
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"


def test_a_console_that_was_not_built_says_so(browser: Client, settings: Settings, tmp_path: Path) -> None:
    settings.CONSOLE_FILES = tmp_path / "nothing"
    answer = browser.get("/topics")
    assert (answer.status_code, b"make setup" in answer.content) == (503, True)


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api", "/api/v2/topics", "/ws/v1/nothing", "/assets/gone.js"])
def test_what_is_not_of_the_console_is_not_answered_with_its_page(browser: Client, path: str) -> None:
    answer = browser.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_a_request_keeps_its_id(browser: Client) -> None:
    assert browser.get("/api/v1/nothing", headers={"x-request-id": "mine-1"})["X-Request-Id"] == "mine-1"
    for forged in ("", "two words", "x" * 65, 'a"b'):
        made = browser.get("/api/v1/nothing", headers={"x-request-id": forged})
        assert re.fullmatch(r"[0-9a-f]{32}", made["X-Request-Id"])
        assert made.json()["request_id"] == made["X-Request-Id"]


def test_answers_of_the_api_are_not_kept(browser: Client) -> None:
    assert browser.get("/api/v1/nothing")["Cache-Control"] == "no-store"


def test_a_foreign_host_name_is_refused(browser: Client) -> None:
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 400


def test_the_description_names_every_operation_without_scripts(control: Control) -> None:
    page = control.as_("stranger").get("/docs/api")
    assert page.status_code == 200
    assert "<script" not in page.text
    document = control.as_("stranger").get("/api/v1/openapi.json").json()
    assert all(path in page.text for path in document["paths"])
