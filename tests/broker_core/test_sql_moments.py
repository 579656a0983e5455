"""Requirements of `broker_core.sql_moments`."""

from __future__ import annotations

import time

import pytest

from broker_core.sql_text import LONGEST, sql_fault


@pytest.mark.parametrize(
    "text",
    [
        "store_timestamp > 'now'",
        'store_timestamp >= " Today UTC"',
        "'YESTERDAY' <= `store_timestamp` and tag = 'a'",
        "tag = 'a' or not (born_timestamp = 'tomorrow')",
        "store_timestamp between 'yesterday' and '2026-05-01'",
        "store_timestamp between '2026-05-01' and 'now'",
        "store_timestamp in ('2026-05-01', 'today')",
        "store_timestamp is distinct from ('now')",
        "store_timestamp > coalesce(null, 'now')",
        "store_timestamp > lower(trim(' NOW '))",
        "store_timestamp > case when tag = 'a' then 'now' else '2026-05-01' end",
        "case tag when 'a' then 'now' else store_timestamp end",
        "coalesce(store_timestamp, 'now')",
        "if(tag = 'a', store_timestamp, 'now')",
        "array_contains(array(store_timestamp), 'now')",
        "json:at::timestamp < 'now'",
        "cast(json:at as date) = 'today'",
        "cast(concat('now') as timestamp)",
        "('now')::timestamp",
        "timestamp'2026-05-01' < 'now'",
        "'now' - interval 1 day",
        "year('now') = 2026",
        "date_format('today', 'yyyy')",
        "extract(day from 'now')",
        "datediff('today', '2026-05-01') > 1",
        "date_add(lower('TODAY'), 1)",
        "to_date(store_timestamp) = 'today'",
        "filter(keys, k -> store_timestamp > 'now')",
        "cast('now' as string) < store_timestamp",
    ],
)
def test_a_word_that_spark_takes_for_a_time_of_its_own_is_refused(text: str) -> None:
    """A text like 'now' beside a time, or where a function needs one, has another value at each try."""
    assert "whose value is another one when the job is tried again" in (sql_fault(text) or ""), text


@pytest.mark.parametrize(
    "text",
    [
        "tag = 'now'",
        "tag = 'now' and store_timestamp > '2026-05-01'",
        "store_timestamp > '2026-05-01' and (tag = 'now' or key = 'today') and born_timestamp < '2026-06-01'",
        "tag in ('now', 'today') or store_timestamp between '2026-05-01' and '2026-06-01'",
        "if(tag = 'now', store_timestamp, born_timestamp) > '2026-05-01'",
        "case when tag = 'now' then store_timestamp else born_timestamp end > '2026-05-01'",
        "coalesce(tag, 'now')",
        "concat('now', tag)",
        "contains(tag, 'now') and year(store_timestamp) = 2026",
        "json:date = 'today'",
        "json:a.timestamp::string = 'now'",
        "properties['now'] = 'a'",
        "map('now', tag)",
        "filter(keys, k -> k = 'now')",
        "store_timestamp > 'epoch'",
        "store_timestamp > 'nowhere'",
        "'now'",
    ],
)
def test_the_same_words_are_plain_texts_elsewhere(text: str) -> None:
    assert sql_fault(text) is None, text


def test_the_columns_with_times_may_be_others() -> None:
    assert sql_fault("updated > 'now'", ["updated"]) is None
    assert sql_fault("Updated > 'now'", ["updated"], ["updated"]) is not None
    assert sql_fault("store_timestamp = 'now'", ["store_timestamp"], []) is None


@pytest.mark.parametrize("piece", ["('now')", "(" * 1900 + "'now'" + ")" * 1900, "'now' and ", "'now',", "case 'now' "])
def test_long_expressions_take_no_time(piece: str) -> None:
    text = piece * (LONGEST // len(piece))
    began = time.process_time()
    sql_fault(text)
    assert time.process_time() - began < 2
