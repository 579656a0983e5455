"""SQL expressions of requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broker_core.sql_functions import ALLOWED, GROUPS, OPTIONS, WITHOUT_BRACKETS
from broker_core.sql_text import LONGEST, sql_fault


@pytest.mark.parametrize(
    "text",
    [
        "amount > 10 AND status = 'select; -- it''s'",
        "json:amount::decimal(10,2)",
        "json:user::string = 'ann' and json:values[0]:table is not null",
        "get_json_object(cast(body as string), '$.id')",
        'element_at(properties, "from")',
        "extract(day FROM store_timestamp) = 1 and trim(BOTH ' ' FROM tag) <> ''",
        "exists(keys, k -> k like 'A%')",
        "map('a', 1)['a']",
        "cast(x as map<string, int>)['a']",
        "tag = 'R' or tag = \"r\"",
        "tag like any ('a%', 'b%') or not (tag in ('now', 'today'))",
        "`table` is not distinct from `with`",
        "`user` = 'ann'",
        "`größe` > 1",
        "from_csv(x, 'a int, b string', map('sep', ';', 'dateFormat', 'dd.MM.yyyy')).b",
        "case when (a) then (b) else (c) end",
        "x::char(3) || x::varchar(3)",
        "unix_timestamp(store_timestamp)",
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
        ("1 = (/**/ FROM text.`/etc/passwd`)", "'/*'"),
        ("1 = ( from text.`/etc/passwd` |> limit 1)", "a query"),
        ("(TABLE secrets)", "'table'"),
        ("(WITH t AS (VALUES 1) TABLE t)", "'with'"),
        ("exists(SELECT 1)", "'select'"),
        ("1 IN (VALUES 1)", "'values'"),
        ("1 IN (VALUES (1))", "'values'"),
        ("reflect('java.lang.System', 'exit', 1)", "'reflect'"),
        ("from_xml('<a/>', 'b string', map('rowValidationXSDPath', 'http://x/y.xsd'))", "'from_xml'"),
        ("xpath_string('<!DOCTYPE a SYSTEM \"http://x/y.dtd\"><a/>', '/a')", "'xpath_string'"),
        ("from_avro(body, '{}')", "'from_avro'"),
        ("'${system:sun.java.command}'", "'${'"),
        ("java_method ('java.lang.System', 'getenv')", "'java_method'"),
        ("`reflect`('java.lang.System', 'exit', 1)", "backquotes"),
        ("\"reflect\"('java.lang.System', 'exit', 1)", "a text before a bracket"),
        ("system.builtin.`reflect` ('java.lang.System', 'exit', 1)", "backquotes"),
        ("spark_catalog.default.upper(tag)", "a name before it"),
        ("identifier('ref' || 'lect')('java.lang.System', 'exit')", "'identifier'"),
        ("(\u017felect first(value) from text.`/etc/passwd`)", "'\u017f'"),
        ("reflect\u2028('a', 'b')", "'\\u2028'"),
        ("größe > 1", "written in backquotes"),
        ("$$ ' $$ || (select 1) || $$ ' $$", "'$'"),
        (r"1.0r'\' , (select 1), '\'' = 1", "raw text"),
        ("(MAP(1) USING 'touch /tmp/x')", "'using'"),
        ("current_user", "'current_user'"),
        ("filter(keys, user -> true)", "a column is `user`"),
        ("sum(queue_offset) OVER (ORDER BY tag)", "'sum'"),
        ("lag(queue_offset) over w", "'lag'"),
        ("rank over w", "'over'"),
        ("any(tag = 'a')", "'any', which reads several rows"),
        ("window(store_timestamp, '10 minutes', '1 minute').start", "'window'"),
        ("uper(tag)", "did you mean 'upper'?"),
        ("x::upper(3)", "where a type is expected"),
        ("now()", "'now', whose value is another one when the job is tried again"),
        ("unix_timestamp()", "'unix_timestamp' without a time"),
        ("unix_timestamp ( ) > 1", "'unix_timestamp' without a time"),
        ("timestamp 'now'", "has 'now'"),
        ("'Today UTC'::date", "has 'Today UTC'"),
        ("cast('yesterday' as date)", "has 'yesterday'"),
        ("to_timestamp('now')", "has 'now'"),
        ("from_json(x, 'a int', map('mode', 'FAILFAST'))", "the option 'mode' of 'from_json'"),
        ("from_csv(x, 'a int', map('sep', ';', 'columnNameOfCorruptRecord', 'c')).c", "'columnNameOfCorruptRecord'"),
        ("from_json(x, 'a int', map(concat('mo', 'de'), 'FAILFAST'))", "another form"),
        ("from_json(x, 'a int', map('mo' 'de', 'FAILFAST'))", "another form"),
        ("to_csv(struct(a, b), options)", "another form"),
        ("to_json((struct(a)), map('locale', 'de')['locale'])", "another form"),
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
    assert word in fault


def test_a_name_in_backquotes_is_a_column_or_no_function() -> None:
    assert sql_fault("upper(`User`)", ["id", "user"]) is None
    fault = sql_fault("upper(`User`)", ["id"])
    assert (
        fault
        == "has the function 'user', which does not compute a value of the row, and there is no column of this name"
    )
    assert sql_fault("json:`user`", ["json"]) is None


def test_the_lists_of_functions_exclude_each_other() -> None:
    assert not ALLOWED & WITHOUT_BRACKETS


def test_the_documentation_lists_the_functions_and_the_options() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/http-api.md").read_text(encoding="utf-8")
    section = page.partition("### Expressions of jobs\n")[2].partition("\n### ")[0]
    rows = dict(re.findall(r"^\| ([^|`]+) \| (`.+) \|$", section, re.MULTILINE))
    listed = {group: set(re.findall(r"`(\w+)`", names)) for group, names in rows.items()}
    assert listed == {group: set(names.split()) for group, names in GROUPS.items()}
    [options] = re.findall(r"and of these: (.+)\.\n", section)
    assert set(re.findall(r"`(\w+)`", options)) == OPTIONS
