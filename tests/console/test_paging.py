"""Requirements of `console.paging`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from console.paging import CursorGone, cursor_of, limit_of, make_cursor, page_sequence


def request(path: str = "/things", **query: Any) -> Request:
    return Request(APIRequestFactory().get(path, query))


def names(rows: list[str], **query: Any) -> list[list[str]]:
    """Return the pages of all rows."""
    pages: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = page_sequence(request(**query, **({"cursor": cursor} if cursor else {})), rows, key=str)
        pages.append(page.items)
        cursor = page.next_cursor
        if cursor is None:
            return pages


@given(st.lists(st.text(min_size=1), unique=True, max_size=30), st.integers(1, 12))
def test_every_row_is_on_one_page(rows: list[str], limit: int) -> None:
    pages = names(rows, limit=limit)
    assert [row for page in pages for row in page] == rows
    assert all(len(page) == limit for page in pages[:-1])


@given(st.lists(st.text(min_size=1), unique=True, max_size=30), st.integers(1, 12))
def test_the_way_back_has_the_pages_of_the_way_there(rows: list[str], limit: int) -> None:
    page, there = page_sequence(request(limit=limit), rows, key=str), [list[str]()]
    while page.next_cursor is not None:
        there.append(page.items)
        page = page_sequence(request(limit=limit, cursor=page.next_cursor), rows, key=str)
    back = [list[str]()]
    while page.prev_cursor is not None:
        page = page_sequence(request(limit=limit, cursor=page.prev_cursor), rows, key=str)
        back.append(page.items)
    assert back[1:] == there[:0:-1]


def test_rows_that_come_and_go_move_no_other_across_the_edge() -> None:
    first = page_sequence(request(limit=2), ["b", "c", "d", "e"], key=str)
    again = request(limit=2, cursor=first.next_cursor)
    assert page_sequence(again, ["a", "b", "c", "d", "e"], key=str).items == ["d", "e"]
    assert page_sequence(again, ["c", "d", "e"], key=str).items == ["d", "e"]
    # The row of the cursor was deleted: the page begins where the row was
    assert page_sequence(again, ["a", "b", "d", "e"], key=str).items == ["d", "e"]
    second = page_sequence(again, ["b", "c", "d", "e"], key=str)
    before = request(limit=2, cursor=second.prev_cursor)
    assert page_sequence(before, ["a", "b", "c", "d", "e"], key=str).items == ["b", "c"]
    assert page_sequence(before, ["b", "c", "e"], key=str).items == ["b", "c"]


@given(st.recursive(st.none() | st.integers(-(2**53), 2**53) | st.text(), st.lists, max_leaves=5))
def test_a_cursor_gives_back_what_was_put_in(after: Any) -> None:
    if after is not None:
        assert cursor_of(request(q="a", cursor=make_cursor(request(q="a"), after))) == after


@given(st.text(min_size=1))
def test_text_that_is_no_cursor_is_gone(text: str) -> None:
    with pytest.raises(CursorGone):
        cursor_of(request(cursor=text))


def test_a_cursor_is_good_for_its_own_question_alone() -> None:
    cursor = make_cursor(request(search="a", limit=5), 7)
    assert cursor_of(request(search="a", limit=9, cursor=cursor)) == 7
    for other in (request(search="b", cursor=cursor), request("/others", search="a", cursor=cursor)):
        with pytest.raises(CursorGone):
            cursor_of(other)


@pytest.mark.parametrize("limit", ["0", "-1", "501", "1e2", "", " 5", "٣", "9" * 40])
def test_a_limit_is_a_number_from_1_to_500(limit: str) -> None:
    with pytest.raises(ValidationError):
        limit_of(request(limit=limit))
    assert limit_of(request()) == 50
