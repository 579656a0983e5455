"""The functions that expressions may call, compared with those of the installed Spark."""

from __future__ import annotations

import random
import re
from typing import Final

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from broker_core.spark.copies import COLUMNS
from broker_core.spark.row_sql import RowSql
from broker_core.sql_functions import ALLOWED
from broker_core.sql_text import sql_fault

pytestmark = pytest.mark.spark

# Forms of the grammar, which Spark lists nowhere.
OF_GRAMMAR: Final = {"dec", "numeric", "timestampadd", "timestampdiff", "try_cast"}
# Operators that take brackets.
OPERATORS: Final = {"and", "or"}
# Words before brackets that Spark would look for as functions, and not find.
NO_FUNCTIONS: Final = {"and", "else", "escape", "for", "from", "or", "placing", "then", "varchar", "character"}


@pytest.fixture(scope="module")
def functions(spark: SparkSession) -> set[str]:
    names = {str(row[0]).lower() for row in spark.sql("SHOW ALL FUNCTIONS").collect()}
    return {name for name in names if re.fullmatch(r"\w+", name)}


def test_every_other_function_of_spark_is_refused_by_name(functions: set[str]) -> None:
    for name in functions - ALLOWED - OPERATORS:
        for call in (f"{name}(tag)", f"{name.upper()} (tag)", f"1 + coalesce({name}(tag), 2)"):
            assert f"has the function {name!r}, wh" in (sql_fault(call) or ""), call


def test_every_allowed_function_is_one_of_spark(functions: set[str]) -> None:
    assert ALLOWED - functions == OF_GRAMMAR


def test_no_mere_name_is_a_function(spark: SparkSession, functions: set[str]) -> None:
    java = spark._jvm
    assert java is not None
    resolution = java.org.apache.spark.sql.catalyst.analysis.LiteralFunctionResolution
    called = {
        name for name in functions
        if resolution.resolve(java.PythonUtils.toSeq([name])).isDefined()
    }  # fmt: skip
    assert "current_user" in called
    for name in called:
        assert "there is no column" in (sql_fault(f"`{name}`", ["x"]) or ""), name
        assert "a column is `" in (sql_fault(name) or ""), name


WORDS: Final = [
    "upper", "tag", "reflect", "java_method", "now", "current_user", "select", "from", "table", "values", "with",
    "map", "reduce", "exists", "using", "in", "like", "any", "all", "not", "case", "when", "then", "end", "cast",
    "as", "int", "decimal", "date", "timestamp", "interval", "day", "extract", "trim", "both", "over", "filter",
    "where", "identifier", "range", "1", "1.0", "10L", "2e1", "x", "lateral", "system", "builtin", "sum", "by",
    "order", "union", "describe", "(", ")", "(", ")", "((", "[", "]", ",", ".", ":", "::", "+", "-", "->", "=>",
    "=", "||", "|", "*", "~", "!", "?", "'a'", "'it''s'", r"'\''", '"b"', "`c`", "r", "R", " ", " ", "\n", "\t",
    "\u00a0", "\u2028", "\u017f", "/", "<", ">", "|>", "`reflect`", "`a``b`", "$", "{", "}", "@", "\\", "'", '"', "`",
    ";", "--", "/*", "*/", "(select 1)", "()", "('a')",
]  # fmt: skip
FORMS: Final = [
    "{}", "({})", "upper({})", "1 in ({})", "exists({})", "x -> {}", "a.{}", "a:{}", "case when {} then 1 end",
]  # fmt: skip


def test_no_text_of_words_and_marks_reaches_another_function_or_a_query(spark: SparkSession) -> None:
    chance = random.Random(20)
    parser = spark._jsparkSession.sessionState().sqlParser()
    parsed = 0
    for _ in range(2000):
        inside = "".join(chance.choice(["", " "]) + chance.choice(WORDS) for _ in range(chance.randint(1, 6)))
        text = chance.choice(FORMS).format(inside)
        if sql_fault(text, ["tag", "x", "c"]) is not None:
            continue
        try:
            tree = parser.parseExpression(text).toString()
        except ParseException:
            continue
        parsed += 1
        called = set(re.findall(r"'([\w.`]+)\(", tree))
        assert called <= ALLOWED | NO_FUNCTIONS, (text, tree)
        assert not re.search(r"subquery|Project|UnresolvedRelation|windowspec", tree), (text, tree)
    assert parsed > 50


USUAL: Final = [
    "cast(body as string)", "json:id::string", "upper(trim(tag)) || '-' || coalesce(key, 'none')",
    "json:items[0].sku::string", "get_json_object(cast(body as string), '$.a.b')", "sha2(body, 256)", "hex(body)",
    "base64(body)", "length(body)", "element_at(properties, 'color')", "try_element_at(properties, 'color')",
    "properties['color']", "array_join(transform(keys, k -> upper(k)), ',')",
    "size(filter(keys, k -> k like 'A%'))", "to_json(named_struct('id', json:id::int, 'at', store_timestamp))",
    "date_format(store_timestamp, 'yyyy-MM-dd')", "store_timestamp >= timestamp'2026-05-01T00:00:00Z'",
    "store_timestamp between timestamp'2026-05-01 00:00:00' and timestamp'2026-05-02 00:00:00'",
    "store_timestamp + interval 2 hours", "extract(hour from store_timestamp)",
    "date_trunc('HOUR', store_timestamp)", "case when json:total::double > 100 then 'large' else 'small' end",
    "if(tag is null, 'none', tag)", "regexp_extract(key, '([0-9]+)', 1)", "key rlike '^A[0-9]+$'",
    "key not like 'A%' escape '/'", "tag in ('A', 'B') and queue_id <> 3", "tag like any ('A%', 'B%')",
    "try_cast(json:n::string as decimal(12,2))",
    "from_json(cast(body as string), 'id int, items array<struct<sku: string>>').items[0].sku",
    "from_csv(cast(body as string), 'id int, name string', map('sep', ';')).name",
    "aggregate(array(1, 2, 3), 0, (a, x) -> a + x)", "map_keys(properties)[0]", "pmod(xxhash64(key), 16) = 3",
    "round(json:price::decimal(12,2) * 1.19, 2)", "json:price::decimal(12,2) % 10 = 0",
    "json:tags::array<string>[0]", "variant_get(json, '$.a.b', 'string')",
    "try_variant_get(json, '$.n', 'int') > 1", "is_variant_null(json:a)", "to_json(json:a)",
    "to_json(variant_set(json, '$.state', 'paid'))", "substring(key from 2 for 3)", "split(key, '-')[0]",
    "position('a' in key) > 0", "overlay(key placing 'x' from 2)", "concat_ws(':', tag, key)",
    "parse_url(key, 'HOST')", "array_contains(keys, 'A1')", "exists(keys, k -> k = 'A1')",
    "arrays_overlap(keys, array('A1', 'A2'))", "timestampdiff(MINUTE, born_timestamp, store_timestamp) > 5",
    "unix_millis(store_timestamp)", "tag is distinct from 'A'", "from_unixtime(json:ts::bigint)",
    "to_timestamp(json:at::string, 'yyyy-MM-dd HH:mm:ss')", "json is not null",
]  # fmt: skip


def test_what_users_write_is_understood(spark: SparkSession) -> None:
    # All at once: each question to Spark takes its time.
    RowSql(properties={str(number): f"to_json(struct({text} as a))" for number, text in enumerate(USUAL)}).check(
        spark, COLUMNS
    )
