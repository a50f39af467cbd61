"""The functions a query may call, and the types they give.

A function that is not here never reaches Spark. Only functions whose result depends on their arguments alone
are allowed: the answer of a query must not depend on when or where it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

# In place of a fixed type: the type of the first argument, the common type of the arguments, or what sqlglot says.
FIRST, COMMON, INFER = "first", "common", "infer"


@dataclass(frozen=True)
class Function:
    """How many arguments a function takes and what type it gives."""

    least: int
    most: int
    type: str

    def takes(self) -> str:
        """The number of arguments, in words."""
        if self.least == self.most:
            return f"{self.least} argument{'s' if self.least != 1 else ''}"
        if self.most == MANY:
            return f"at least {self.least} argument{'s' if self.least != 1 else ''}"
        return f"{self.least} to {self.most} arguments"


MANY = 255

AGGREGATES: dict[str, Function] = {
    "count": Function(1, MANY, "bigint"),
    "sum": Function(1, 1, INFER),
    "avg": Function(1, 1, INFER),
    "min": Function(1, 1, FIRST),
    "max": Function(1, 1, FIRST),
}


def _table(*rows: tuple[str, int, int, str]) -> dict[str, Function]:
    return {name: Function(least, most, type_) for names, least, most, type_ in rows for name in names.split()}


SCALARS: dict[str, Function] = _table(
    # Numbers
    ("abs negative positive", 1, 1, FIRST),
    ("ceil ceiling floor", 1, 1, "bigint"),
    ("round bround", 1, 2, INFER),
    (
        "sqrt cbrt exp ln log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh degrees radians",
        1,
        1,
        "double",
    ),
    ("log", 1, 2, "double"),
    ("power pow atan2 hypot", 2, 2, "double"),
    ("mod pmod", 2, 2, COMMON),
    ("sign signum", 1, 1, "double"),
    ("greatest least", 2, MANY, COMMON),
    # Texts
    ("upper lower ucase lcase trim ltrim rtrim reverse initcap", 1, 1, "string"),
    ("length char_length character_length bit_length octet_length ascii", 1, 1, "int"),
    ("concat", 1, MANY, "string"),
    ("concat_ws", 2, MANY, "string"),
    ("substring substr", 2, 3, "string"),
    ("left right repeat", 2, 2, "string"),
    ("lpad rpad", 2, 3, "string"),
    ("replace", 2, 3, "string"),
    ("translate", 3, 3, "string"),
    ("split_part substring_index", 3, 3, "string"),
    ("instr", 2, 2, "int"),
    ("locate", 2, 3, "int"),
    ("startswith endswith contains", 2, 2, "boolean"),
    ("regexp_replace", 3, 3, "string"),
    ("regexp_extract", 2, 3, "string"),
    ("levenshtein", 2, 2, "int"),
    ("md5 sha1", 1, 1, "string"),
    ("sha2", 2, 2, "string"),
    ("hash", 1, MANY, "int"),
    ("xxhash64", 1, MANY, "bigint"),
    ("crc32", 1, 1, "bigint"),
    # Times
    (
        "year quarter month day dayofmonth dayofweek dayofyear weekofyear weekday hour minute second",
        1,
        1,
        "int",
    ),
    ("date_trunc", 2, 2, "timestamp"),
    ("trunc", 2, 2, "date"),
    ("date_add date_sub", 2, 2, "date"),
    ("datediff date_diff", 2, 2, "int"),
    ("add_months", 2, 2, "date"),
    ("months_between", 2, 2, "double"),
    ("last_day", 1, 1, "date"),
    ("date_format", 2, 2, "string"),
    ("to_date", 1, 2, "date"),
    ("to_timestamp", 1, 2, "timestamp"),
    ("unix_timestamp to_unix_timestamp", 1, 2, "bigint"),
    ("unix_seconds unix_millis unix_micros", 1, 1, "bigint"),
    ("timestamp_seconds timestamp_millis timestamp_micros", 1, 1, "timestamp"),
    ("make_date", 3, 3, "date"),
    # Choices
    ("coalesce", 1, MANY, COMMON),
    ("nvl ifnull nullif", 2, 2, COMMON),
    ("nvl2 if iff", 3, 3, COMMON),
    ("isnull isnotnull isnan", 1, 1, "boolean"),
    ("nanvl", 2, 2, COMMON),
    # Collections
    ("size cardinality", 1, 1, "int"),
    ("array_contains", 2, 2, "boolean"),
    ("element_at", 2, 2, INFER),
    ("get_json_object", 2, 2, "string"),
)

CHANGES_BY_ITSELF = frozenset(
    "rand randn random uuid now current_timestamp current_date current_time localtimestamp curdate "
    "current_timezone monotonically_increasing_id spark_partition_id input_file_name shuffle".split()
)
