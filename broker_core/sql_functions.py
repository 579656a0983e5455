"""Which functions of Spark an expression of a request may call (docs/http-api.md, Expressions of jobs).

Allowed is what makes one value of its arguments, the same one each time: a job that is tried again must find the same
rows. Everything else is refused by its name, also what a later Spark brings.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final

GROUPS: Final[Mapping[str, str]] = {
    "texts": """
        ascii base64 bit_length btrim char char_length character_length chr collate collation concat concat_ws
        contains decode elt encode endswith find_in_set format_number format_string from_base32 initcap instr
        is_valid_utf8 jaro_winkler_similarity lcase left length len levenshtein locate lower lpad ltrim
        luhn_check make_valid_utf8 mask octet_length overlay position printf quote repeat replace reverse right
        rpad rtrim sentences soundex space split split_part startswith substr substring substring_index
        to_base32 to_binary to_char to_number to_varchar translate trim try_to_binary try_to_number
        try_validate_utf8 ucase unbase64 upper validate_utf8
    """,
    "patterns": """
        ilike like regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace
        regexp_substr rlike
    """,
    "numbers": """
        abs acos acosh asin asinh atan atan2 atanh bin bit_count bit_get bround cbrt ceil ceiling conv cos cosh
        cot csc degrees div e exp expm1 factorial floor getbit greatest hex hypot least ln log log10 log1p log2
        mod negative pi pmod positive pow power radians rint round sec shiftleft shiftright shiftrightunsigned
        sign signum sin sinh sqrt tan tanh try_add try_divide try_mod try_multiply try_subtract unhex
        width_bucket bitmap_bit_position bitmap_bucket_number bitmap_count vector_cosine_similarity
        vector_inner_product vector_l2_distance vector_norm vector_normalize
    """,
    "conditions": """
        between case coalesce equal_null if ifnull in isnan isnotnull isnull nanvl not nullif nullifzero nvl
        nvl2 when zeroifnull
    """,
    "types": """
        bigint binary boolean cast date dec decimal double float int numeric smallint string time timestamp
        tinyint try_cast typeof
    """,
    "dates and times": """
        add_months convert_timezone date_add date_diff date_format date_from_unix_date date_part date_sub
        date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear extract from_unixtime
        from_utc_timestamp hour last_day make_date make_dt_interval make_interval make_time make_timestamp
        make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname months_between next_day
        quarter second time_bucket time_diff time_from_micros time_from_millis time_from_seconds time_to_micros
        time_to_millis time_to_seconds time_trunc timestamp_micros timestamp_millis timestamp_nanos
        timestamp_seconds timestampadd timestampdiff to_date to_time to_timestamp to_timestamp_ltz
        to_timestamp_ntz to_unix_timestamp to_utc_timestamp trunc try_make_interval try_make_timestamp
        try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time try_to_timestamp unix_date
        unix_micros unix_millis unix_nanos unix_seconds unix_timestamp weekday weekofyear year
    """,
    "JSON, variants and CSV": """
        from_csv from_json get_json_object is_valid_variant is_variant_null json_array_length json_object_keys
        parse_json schema_of_csv schema_of_json schema_of_variant to_csv to_json to_variant_object
        try_parse_json try_variant_array_append try_variant_get try_variant_insert try_variant_set
        variant_array_append variant_delete variant_get variant_insert variant_set variant_strip_nulls
    """,
    "arrays, maps and structs": """
        aggregate array array_append array_compact array_contains array_distinct array_except array_insert
        array_intersect array_join array_max array_min array_position array_prepend array_remove array_repeat
        array_size array_sort array_union arrays_overlap arrays_zip cardinality element_at exists filter flatten
        forall get map map_concat map_contains_key map_entries map_filter map_from_arrays map_from_entries
        map_keys map_values map_zip_with named_struct reduce sequence size slice sort_array str_to_map struct
        transform transform_keys transform_values try_element_at zip_with
    """,
    "hashes and ciphers": "aes_decrypt crc32 hash hmac md5 sha sha1 sha2 try_aes_decrypt xxhash64",
    "addresses": "parse_url try_parse_url try_url_decode url_decode url_encode",
}
"""The allowed functions, by what they are about."""

ALLOWED: Final = frozenset(" ".join(GROUPS.values()).split())

OPTIONS_AFTER: Final[Mapping[str, int]] = {
    "from_csv": 2, "from_json": 2, "schema_of_csv": 1, "schema_of_json": 1, "to_csv": 1, "to_json": 1,
}  # fmt: skip
"""Functions that take options, and after how many arguments."""

OPTIONS: Final = frozenset({
    "allowBackslashEscapingAnyCharacter", "allowComments", "allowNonNumericNumbers", "allowNumericLeadingZeros",
    "allowSingleQuotes", "allowUnquotedControlChars", "allowUnquotedFieldNames", "dateFormat", "delimiter",
    "emptyValue", "escape", "ignoreLeadingWhiteSpace", "ignoreNullFields", "ignoreTrailingWhiteSpace", "locale",
    "nanValue", "negativeInf", "nullValue", "positiveInf", "prefersDecimal", "primitivesAsString", "quote",
    "sep", "timestampFormat", "timestampNTZFormat", "timeZone",
})  # fmt: skip
"""Options of a text's form. Not those that say what becomes of a wrong text: a column, or an error, of their own."""

WITHOUT_BRACKETS: Final = frozenset({
    "current_catalog", "current_database", "current_date", "current_path", "current_schema", "current_time",
    "current_timestamp", "current_user", "grouping__id", "localtime", "localtimestamp", "session_user", "user",
})  # fmt: skip
"""Functions that Spark calls for their mere name, also in backquotes, unless it is a column."""

_TIME: Final = (
    "whose value is another one when the job is tried again; write the moment, as timestamp'2026-05-01T00:00:00Z'"
)
_RANDOM: Final = "whose value is another one when the job is tried again"
_SEVERAL: Final = "which makes several rows of one; an expression has one value for each row"
_OF_ROWS: Final = "which reads several rows; an expression reads one"
_OUTSIDE: Final = "which reads from addresses and files that a text names"
_MACHINE: Final = "which does not compute a value of the row"
_WHY: Final[Mapping[str, str]] = {
    name: reason
    for reason, names in {
        _TIME: """
            curdate current_date current_time current_timestamp localtime localtimestamp now
        """,
        _RANDOM: """
            aes_encrypt monotonically_increasing_id rand randn random randstr shuffle spark_partition_id uniform
            uuid
        """,
        _SEVERAL: """
            collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer
            python_worker_logs range sql_keywords stack variant_explode variant_explode_outer
        """,
        _OF_ROWS: """
            all any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor
            bool_and bool_or collect_list collect_set count count_if cume_dist dense_rank every first
            first_value lag last last_value lead listagg max max_by mean median min min_by mode nth_value ntile
            percent_rank percentile rank row_number session_window some stddev string_agg sum try_avg try_sum
            variance window window_time
        """,
        _OUTSIDE: """
            from_avro from_protobuf from_xml schema_of_avro schema_of_xml to_avro to_protobuf to_xml xpath
            xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string
        """,
        _MACHINE: """
            assert_true current_catalog current_database current_path current_schema current_timezone
            current_user grouping__id identifier input_file_block_length input_file_block_start input_file_name
            java_method raise_error reflect session_user try_reflect user version
        """,
    }.items()
    for name in names.split()
}


def why_refused(name: str) -> str:
    """Return the end of a sentence about a function that is not allowed, as "which …"."""
    reason = _WHY.get(name)
    if reason is not None:
        return reason
    near = difflib.get_close_matches(name, ALLOWED, n=1, cutoff=0.75)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"which is not one of those that expressions of jobs may call{hint}"
