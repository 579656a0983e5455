"""SQL expressions of requests."""

from __future__ import annotations

import pytest

from broker_core.sql_text import LONGEST, sql_fault


@pytest.mark.parametrize(
    "text",
    [
        "amount > 10 AND status = 'select; -- it''s'",
        "json:amount::decimal(10,2)",
        "get_json_object(cast(body as string), '$.id')",
        'element_at(properties, "from")',
        "extract(day FROM store_timestamp) = 1 and trim(BOTH ' ' FROM tag) <> ''",
        "exists(keys, k -> k like 'A%')",
        "map('a', 1)['a']",
        "tag = 'R' or tag = \"r\"",
        "`table` is not distinct from `with`",
    ],
)
def test_an_expression_over_the_row_is_allowed(text: str) -> None:
    assert sql_fault(text) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("  ", "empty"),
        ("x" * (LONGEST + 1), "at most 4,000"),
        ("(SELECT first(value) FROM text.`/etc/passwd`)", "'select'"),
        ("1 = (/**/ FROM text.`/etc/passwd`)", "'/\\*'"),
        ("1 = ( from text.`/etc/passwd` |> limit 1)", "a query"),
        ("(TABLE secrets)", "'table'"),
        ("(WITH t AS (VALUES 1) TABLE t)", "'with'"),
        ("exists(SELECT 1)", "'select'"),
        ("1 IN (VALUES 1)", "'values'"),
        ("reflect('java.lang.System', 'exit', 1)", "'reflect'"),
        ("from_xml('<a/>', 'b string', map('rowValidationXSDPath', 'http://x/y.xsd'))", "'from_xml'"),
        ("schema_of_xml('<a/>')", "'schema_of_xml'"),
        ("from_avro(body, '{}')", "'from_avro'"),
        ("'${system:sun.java.command}'", "'${'"),
        ("java_method ('java.lang.System', 'getenv')", "'java_method'"),
        ("`reflect`('java.lang.System', 'exit', 1)", "backquotes"),
        ("system.builtin.`reflect` ('java.lang.System', 'exit', 1)", "backquotes"),
        ("identifier('ref' || 'lect')('java.lang.System', 'exit')", "'identifier'"),
        ("(\u017felect first(value) from text.`/etc/passwd`)", "'select'"),
        ("exi\u017fts(w\u0131th t as (from x) from t)", "'with'"),
        ("$$ ' $$ || (select 1) || $$ ' $$", "dollar signs"),
        (r"1.0r'\' , (select 1), '\'' = 1", "raw text"),
        ("(MAP(1) USING 'touch /tmp/x')", "'using'"),
        ("current_user", "'current_user'"),
        ("from_protobuf(body, 'A', '/etc/passwd')", "'from_protobuf'"),
        ("sum(queue_offset) OVER (ORDER BY tag)", "'over'"),
        ("sum(queue_offset) over w", "'over'"),
        ("window(store_timestamp, '10 minutes', '1 minute').start", "'window'"),
        (r"r'\' , (select 1), '\'' = 1", "raw text"),
        ("a = 'open", "has \"'\" at character 5, and no other one that closes it: …'open"),
        ("tag = 'a' and `ke", "has '`' at character 15"),
        ("tag = 'it's'", "at character 12"),
        ('tag = "a\\"', "has '\"' at character 7"),
        ("1; drop", "';'"),
        ("1 -- x", "'--'"),
    ],
)
def test_whatever_reaches_beyond_the_row_is_refused_by_name(text: str, word: str) -> None:
    fault = sql_fault(text)
    assert fault is not None
    assert word.replace("\\", "") in fault
