"""The functions a query may call, and the types they give.

A function that is not here never reaches Spark. Only functions whose result depends on their arguments alone
are allowed: the answer of a query must not depend on when or where it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

# In place of a fixed type: the type of the first argument, the common type of all or of all but the first, or
# what the kind of number asks for.
FIRST, COMMON, REST = "first", "common", "rest"
WHOLE, ROUNDED, REMAINDER, SUMMED, MEAN, ELEMENT = "whole", "rounded", "remainder", "summed", "mean", "element"


@dataclass(frozen=True)
class Function:
    """How many arguments a function takes, of what kinds, and what type it gives.

    There is a kind for each argument, the last one for all that follow; `a|b` is either. Kinds are those of
    `types.fits`.
    """

    least: int
    most: int
    kinds: tuple[str, ...]
    type: str

    def takes(self) -> str:
        """The number of arguments, in words."""
        if self.least == self.most:
            return f"{self.least} argument{'s' if self.least != 1 else ''}"
        if self.most == MANY:
            return f"at least {self.least} argument{'s' if self.least != 1 else ''}"
        return f"{self.least} to {self.most} arguments"

    def kinds_of(self, number: int) -> tuple[str, ...]:
        """The kinds that an argument may be of, counted from 0."""
        return tuple(self.kinds[min(number, len(self.kinds) - 1)].split("|"))


MANY = 1_000_000
PRINTED = "text|number|condition|time"  # what Spark writes as text by itself


def _table(*rows: tuple[str, int, int, str, str]) -> dict[str, Function]:
    return {
        name: Function(least, most, tuple(kinds.split()), type_)
        for names, least, most, kinds, type_ in rows
        for name in names.split()
    }


AGGREGATES: dict[str, Function] = _table(
    ("count", 1, MANY, "any", "bigint"),
    ("sum", 1, 1, "number", SUMMED),
    ("avg", 1, 1, "number", MEAN),
    ("min max", 1, 1, "ordered", FIRST),
)

SCALARS: dict[str, Function] = _table(
    # Numbers
    ("abs negative positive", 1, 1, "number", FIRST),
    ("ceil ceiling floor", 1, 1, "number", WHOLE),
    ("round bround", 1, 2, "number", ROUNDED),
    ("sqrt cbrt exp ln log2 log10 log1p expm1 degrees radians", 1, 1, "number", "double"),
    ("sin cos tan asin acos atan sinh cosh tanh", 1, 1, "number", "double"),
    ("log", 1, 2, "number", "double"),
    ("power pow atan2 hypot", 2, 2, "number", "double"),
    ("mod pmod", 2, 2, "number", REMAINDER),
    ("sign signum", 1, 1, "number", "double"),
    ("greatest least", 2, MANY, "ordered", COMMON),
    # Texts
    ("upper lower ucase lcase trim ltrim rtrim reverse initcap", 1, 1, "text", "string"),
    ("length char_length character_length bit_length octet_length", 1, 1, "text|binary", "int"),
    ("ascii", 1, 1, "text", "int"),
    ("concat", 1, MANY, PRINTED, "string"),
    ("concat_ws", 2, MANY, "text", "string"),
    ("substring substr", 2, 3, "text number", "string"),
    ("left right repeat", 2, 2, "text number", "string"),
    ("lpad rpad", 2, 3, "text number text", "string"),
    ("replace", 2, 3, "text", "string"),
    ("translate", 3, 3, "text", "string"),
    ("split_part substring_index", 3, 3, "text text number", "string"),
    ("instr", 2, 2, "text", "int"),
    ("locate", 2, 3, "text text number", "int"),
    ("startswith endswith contains", 2, 2, "text", "boolean"),
    ("regexp_replace", 3, 3, "text", "string"),
    ("regexp_extract", 2, 3, "text text number", "string"),
    ("levenshtein", 2, 2, "text", "int"),
    ("md5 sha1", 1, 1, "text|binary", "string"),
    ("sha2", 2, 2, "text|binary number", "string"),
    ("hash", 1, MANY, "ordered", "int"),
    ("xxhash64", 1, MANY, "ordered", "bigint"),
    ("crc32", 1, 1, "text|binary", "bigint"),
    # Times
    ("year quarter month day dayofmonth dayofweek dayofyear weekofyear weekday", 1, 1, "time", "int"),
    ("hour minute second", 1, 1, "time", "int"),
    ("date_trunc", 2, 2, "text time", "timestamp"),
    ("trunc", 2, 2, "time text", "date"),
    ("date_add date_sub add_months", 2, 2, "time int", "date"),
    ("datediff date_diff", 2, 2, "time", "int"),
    ("months_between", 2, 2, "time", "double"),
    ("last_day", 1, 1, "time", "date"),
    ("date_format", 2, 2, "time text", "string"),
    ("to_date", 1, 2, "text|time text", "date"),
    ("to_timestamp", 1, 2, "text|time text", "timestamp"),
    ("unix_timestamp to_unix_timestamp", 1, 2, "text|time text", "bigint"),
    ("unix_seconds unix_millis unix_micros", 1, 1, "timestamp", "bigint"),
    ("timestamp_seconds", 1, 1, "number", "timestamp"),
    ("timestamp_millis timestamp_micros", 1, 1, "bigint", "timestamp"),
    ("make_date", 3, 3, "number", "date"),
    # Choices
    ("coalesce", 1, MANY, "any", COMMON),
    ("nvl ifnull", 2, 2, "any", COMMON),
    ("nullif", 2, 2, "ordered", FIRST),
    ("nvl2", 3, 3, "any", REST),
    ("if", 3, 3, "condition any", REST),
    ("isnull isnotnull", 1, 1, "any", "boolean"),
    ("isnan", 1, 1, "number", "boolean"),
    ("nanvl", 2, 2, "fraction", COMMON),
    # Collections
    ("size cardinality", 1, 1, "array|map", "int"),
    ("array_contains", 2, 2, "array any", "boolean"),
    ("element_at", 2, 2, "array|map any", ELEMENT),
    ("get_json_object", 2, 2, "text", "string"),
)

CHANGES_BY_ITSELF = frozenset(
    "rand randn random uuid now current_timestamp current_date current_time localtimestamp curdate "
    "current_timezone monotonically_increasing_id spark_partition_id input_file_name shuffle".split()
)
