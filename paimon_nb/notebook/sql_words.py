"""Words that completion offers in SQL cells: keywords, functions of Spark and Flink, column types."""

KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "INSERT INTO", "INSERT OVERWRITE", "CREATE TABLE", "CREATE DATABASE",
    "CREATE CATALOG", "ALTER TABLE", "DROP TABLE", "UNDROP TABLE", "CALL sys.", "SHOW TABLES", "DESCRIBE", "EXPLAIN", "USE",
    "UPDATE", "DELETE FROM", "MERGE INTO", "VERSION AS OF", "TIMESTAMP AS OF", "PARTITIONED BY", "PRIMARY KEY", "HAVING", "LIMIT",
    "JOIN", "LEFT JOIN", "UNION ALL", "DISTINCT", "BETWEEN", "IS NULL", "IS NOT NULL", "LIKE", "CASE WHEN", "VALUES",
)  # fmt: skip
FUNCTIONS = tuple(
    """abs any_value approx_count_distinct array array_agg array_contains array_distinct array_join array_size avg cardinality cast ceil
    coalesce collect_list collect_set concat concat_ws corr count count_if current_date current_timestamp date_add date_diff date_format
    date_sub date_trunc day dayofweek dense_rank element_at exists exp explode extract filter first_value flatten floor from_json
    from_unixtime get_json_object greatest hour if ifnull initcap instr lag last_day last_value lead least left length ln log lower lpad
    ltrim make_date map map_entries map_from_arrays map_keys map_values max max_by md5 median min min_by minute mod month months_between
    named_struct now nullif nvl percentile percentile_approx pmod posexplode pow rand rank regexp_count regexp_extract regexp_like
    regexp_replace repeat replace reverse right round row_number rpad rtrim second sequence sha2 sign size slice sort_array split
    split_part sqrt starts_with stddev string_agg struct substring sum to_date to_json to_timestamp transform trim try_cast try_divide
    try_to_timestamp typeof unix_timestamp upper uuid var_pop variance weekofyear year""".split()  # noqa: SIM905
)
TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "STRING", "VARCHAR(100)", "CHAR(10)", "BINARY(16)",
    "BYTES", "DATE", "TIME(0)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", "ARRAY<STRING>", "MAP<STRING, STRING>", "ROW<a INT>", "VARIANT",
)  # fmt: skip
