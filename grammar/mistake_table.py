# ruff: noqa: E501
"""Labelled bad inputs: the source of the messages for texts that do not parse, and their test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """A kind of mistake: what to say, what to do, and texts that make it.

    `any_word`: the message fits whatever word stands in the example's place. `words`: the message fits
    wherever one of these words is in the way. `{found}` in the message is what was found.
    """

    label: str
    message: str
    hint: str
    examples: tuple[str, ...]
    any_word: bool = False
    words: tuple[str, ...] = ()


_DURATION = "Expected a duration such as 5 min, or a number of rows such as 100 ROWS."
_JOIN = "A join is written  FROM A JOIN B ON A.key = B.key  or  FROM A, B WHERE A.key = B.key."
_STREAM = (
    "CREATE STREAM Temperature (LocationId INT, Value DOUBLE, ts TIMESTAMP)\n"
    "  TIMESTAMP BY ts LATENESS 5 sec FROM parquet 'data/temperature';"
)

MISTAKES: tuple[Mistake, ...] = (
    # The beginning
    Mistake(
        "unknown-statement",
        "a statement cannot start with {found}",
        "Expected SELECT, CREATE, DROP, ALTER, INSERT INTO, SHOW, DESCRIBE, EXPLAIN or SET.",
        ("SELCT a FROM A", "hot", "5"),
        any_word=True,
    ),
    Mistake(
        "no-common-table-expressions",
        "WITH is not part of the language",
        "Give the inner query a name with CREATE QUERY name AS …, then use FROM name.",
        ("WITH x AS (SELECT a FROM A) SELECT a FROM x",),
    ),
    Mistake(
        "append-only",
        "{found} is not known: streams only grow",
        "Rows enter a stream through its source and leave it when they are too old.",
        ("UPDATE A SET a = 1", "DELETE FROM A", "TRUNCATE A", "MERGE INTO A"),
    ),
    # SELECT and FROM
    Mistake(
        "select-nothing",
        "what to select is missing before {found}",
        "Expected columns or *, such as  SELECT A.LocationId, A.Value FROM …",
        ("SELECT FROM A", "SELECT", "SELECT DISTINCT FROM A", "SELECT WHERE a = 1"),
        any_word=True,
    ),
    Mistake(
        "comma-before-from",
        "a column is missing after the comma, before {found}",
        "Take the comma out, or name another column after it.",
        ("SELECT a, FROM A", "SELECT a, b, FROM A"),
        any_word=True,
    ),
    Mistake(
        "no-from",
        "FROM is missing before {found}",
        "Name the streams:  SELECT … FROM Temperature A, Humidity B …",
        (
            "SELECT a",
            "SELECT a AS b",
            "SELECT a b",
            "SELECT *",
            "SELECT A.*",
            "SELECT a WHERE b = 1",
            "SELECT a WINDOW 1 min",
        ),
    ),
    Mistake(
        "from-nothing",
        "a stream, relation or query is missing after FROM, before {found}",
        "Name one, such as  FROM Temperature A",
        ("SELECT a FROM", "SELECT a FROM WHERE b = 1", "SELECT a FROM 'data/a'", "SELECT a FROM 5"),
        any_word=True,
    ),
    Mistake(
        "comma-in-from",
        "a stream, relation or query is missing after the comma, before {found}",
        "Take the comma out, or name another stream after it.",
        ("SELECT a FROM A, WHERE b = 1", "SELECT a FROM A,"),
        any_word=True,
    ),
    Mistake(
        "no-subqueries",
        "a query inside a query is not part of the language",
        "Give the inner query a name with CREATE QUERY name AS …, then use FROM name.",
        (
            "SELECT a FROM (SELECT a FROM A) B",
            "SELECT a FROM A WHERE b IN (SELECT b FROM B)",
            "SELECT (SELECT a FROM A) FROM B",
            "SELECT a FROM A, (SELECT a FROM A) B",
            "SELECT a FROM A JOIN (SELECT a FROM A) B ON A.a = B.a",
            "SELECT a FROM A WHERE EXISTS (SELECT b FROM B)",
        ),
        words=("SELECT",),
    ),
    Mistake(
        "as-nothing",
        "a name is missing after AS, before {found}",
        "Write  expression AS name; a name with special characters stands in double quotes.",
        (
            "SELECT a AS FROM A",
            "SELECT a AS 5 FROM A",
            "SELECT a FROM A AS WHERE b = 1",
            "SELECT a AS 'b' FROM A",
        ),
        any_word=True,
    ),
    # Joins
    Mistake(
        "only-inner-joins",
        "{found} joins are not part of the language",
        f"Only inner joins over windows are. {_JOIN}",
        (
            "SELECT a FROM A LEFT JOIN B ON A.k = B.k",
            "SELECT a FROM A x RIGHT JOIN B ON x.k = B.k",
            "SELECT a FROM A FULL OUTER JOIN B ON A.k = B.k",
            "SELECT a FROM A NATURAL JOIN B",
        ),
        words=("LEFT", "RIGHT", "FULL", "OUTER", "NATURAL", "SEMI", "ANTI"),
    ),
    Mistake(
        "join-without-on",
        "the join's condition is missing before {found}",
        f"{_JOIN} Without a condition it is CROSS JOIN.",
        (
            "SELECT a FROM A JOIN B WINDOW 1 min",
            "SELECT a FROM A JOIN B",
            "SELECT a FROM A JOIN B b WHERE a = 1",
            "SELECT a FROM A JOIN B x",
            "SELECT a FROM A JOIN B [RANGE 1 min] WHERE a = 1",
            "SELECT a FROM A JOIN B, C",
        ),
    ),
    Mistake(
        "no-using",
        "USING is not part of the language",
        _JOIN,
        ("SELECT a FROM A JOIN B USING (k)",),
        words=("USING",),
    ),
    Mistake(
        "join-nothing",
        "a stream, relation or query is missing after JOIN, before {found}",
        _JOIN,
        (
            "SELECT a FROM A JOIN ON A.k = B.k",
            "SELECT a FROM A JOIN",
            "SELECT a FROM A CROSS JOIN WHERE b = 1",
        ),
        any_word=True,
    ),
    Mistake(
        "on-nothing",
        "the join's condition is missing after ON, before {found}",
        _JOIN,
        (
            "SELECT a FROM A JOIN B ON WINDOW 1 min",
            "SELECT a FROM A JOIN B ON WHERE a = 1",
            "SELECT a FROM A JOIN B ON",
        ),
        any_word=True,
    ),
    Mistake(
        "on-without-join",
        "ON without JOIN",
        _JOIN,
        (
            "SELECT a FROM A, B ON A.k = B.k",
            "SELECT a FROM A x, B y ON x.k = y.k",
            "SELECT a FROM A ON a = 1",
        ),
        words=("ON",),
    ),
    # Windows
    Mistake(
        "window-without-length",
        "the window's length is missing after WINDOW, before {found}",
        _DURATION,
        (
            "SELECT a FROM A WINDOW",
            "SELECT a FROM A WINDOW min",
            "SELECT a FROM A WINDOW SLIDE 1 min",
            "SELECT a FROM A WINDOW '5 min'",
            "SELECT a FROM A WINDOW -5 min",
        ),
        any_word=True,
    ),
    Mistake(
        "window-without-unit",
        "the window's unit is missing before {found}",
        _DURATION,
        ("SELECT a FROM A WINDOW 60", "SELECT a FROM A WINDOW 60 60", "ALTER QUERY hot SET WINDOW 5"),
        any_word=True,
    ),
    Mistake(
        "slide-without-length",
        "the slide's length is missing after SLIDE, before {found}",
        "Expected a duration such as 10 sec.",
        ("SELECT a FROM A WINDOW 1 min SLIDE", "SELECT a FROM A WINDOW 1 min SLIDE sec"),
        any_word=True,
    ),
    Mistake(
        "duration-without-unit",
        "the unit of the duration is missing before {found}",
        "Expected a duration such as 10 sec.",
        ("SELECT a FROM A WINDOW 1 min SLIDE 10", "CREATE STREAM A (ts TIMESTAMP) LATENESS 5 FROM rate"),
        any_word=True,
    ),
    Mistake(
        "slide-without-window",
        "SLIDE without WINDOW",
        "Write  WINDOW 1 hour SLIDE 1 min.",
        (
            "SELECT COUNT(*) FROM A SLIDE 1 min",
            "SELECT COUNT(*) FROM A x SLIDE 1 min",
            "SELECT COUNT(*) FROM A WHERE a > 1 SLIDE 1 min",
            "SELECT a, COUNT(*) FROM A GROUP BY a SLIDE 1 min",
        ),
        words=("SLIDE",),
    ),
    Mistake(
        "stream-window",
        "a stream's window cannot start with {found}",
        "Write  A [RANGE 5 min]  or  A [ROWS 100].",
        ("SELECT a FROM A [5 min], B", "SELECT a FROM A x [5 ROWS], B", "SELECT a FROM A []"),
        any_word=True,
    ),
    Mistake(
        "range-without-duration",
        "the range's duration is missing before {found}",
        "Write  [RANGE 5 min].",
        ("SELECT a FROM A [RANGE], B", "SELECT a FROM A [RANGE 5], B", "SELECT a FROM A [RANGE min], B"),
        any_word=True,
    ),
    Mistake(
        "rows-without-number",
        "the number of rows is missing before {found}",
        "Write  [ROWS 100].",
        ("SELECT a FROM A [ROWS], B", "SELECT a FROM A [ROWS many], B"),
        any_word=True,
    ),
    Mistake(
        "window-never-closed",
        "the stream's window is not closed before {found}",
        "Add the closing ].",
        ("SELECT a FROM A [RANGE 5 min, B", "SELECT a FROM A [ROWS 5, B", "SELECT a FROM A [ROWS 5 rows], B"),
        any_word=True,
    ),
    Mistake(
        "clause-order",
        "{found} stands too late in the query",
        "The order is SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW … SLIDE ….",
        (
            "SELECT a FROM A WINDOW 1 min WHERE a = 1",
            "SELECT a FROM A WINDOW 1 min GROUP BY a",
            "SELECT a FROM A GROUP BY a WHERE a = 1",
            "SELECT a FROM A HAVING a > 1 WHERE a = 1",
            "SELECT a FROM A HAVING a > 1 GROUP BY a",
            "SELECT a FROM A WINDOW 1 min HAVING a = 1",
            "SELECT a FROM A WHERE a = 1 FROM B",
            "SELECT a FROM A WINDOW 1 min SLIDE 1 sec WHERE a = 1",
            "SELECT a FROM A WHERE a = 1 JOIN B ON a = b",
        ),
        words=("WHERE", "GROUP", "HAVING", "FROM", "JOIN"),
    ),
    # The other clauses
    Mistake(
        "where-nothing",
        "the condition is missing after WHERE, before {found}",
        "Write a condition such as  WHERE A.Value > 30, or leave WHERE out.",
        (
            "SELECT a FROM A WHERE",
            "SELECT a FROM A WHERE WINDOW 1 min",
            "SELECT a FROM A WHERE GROUP BY a",
            "SELECT a FROM A WHERE AND a = 1",
        ),
        any_word=True,
    ),
    Mistake(
        "group-without-by",
        "BY is missing after GROUP, before {found}",
        "Write  GROUP BY A.LocationId.",
        ("SELECT a FROM A GROUP a", "SELECT a FROM A GROUP"),
        any_word=True,
    ),
    Mistake(
        "group-by-nothing",
        "what to group by is missing before {found}",
        "Write  GROUP BY A.LocationId.",
        ("SELECT a FROM A GROUP BY", "SELECT a FROM A GROUP BY WINDOW 1 min"),
        any_word=True,
    ),
    Mistake(
        "having-nothing",
        "the condition is missing after HAVING, before {found}",
        "Write a condition such as  HAVING COUNT(*) > 10.",
        ("SELECT a FROM A GROUP BY a HAVING", "SELECT a FROM A GROUP BY a HAVING WINDOW 1 min"),
        any_word=True,
    ),
    Mistake(
        "no-order-by",
        "ORDER BY is not part of the language: a standing query never ends, so it has no last row",
        "Leave it out, and sort when you read the results.",
        (
            "SELECT a FROM A ORDER BY a",
            "SELECT a FROM A x ORDER BY a",
            "SELECT a FROM A WHERE a = 1 ORDER BY a",
            "SELECT a FROM A WINDOW 1 min ORDER BY a",
            "SELECT a, COUNT(*) FROM A GROUP BY a ORDER BY a",
        ),
        words=("ORDER",),
    ),
    Mistake(
        "no-limit",
        "{found} is not part of the language: a standing query never ends",
        "Leave it out, and limit what you read of the results.",
        ("SELECT a FROM A LIMIT 10", "SELECT a FROM A WINDOW 1 min LIMIT 10"),
        words=("LIMIT", "OFFSET", "FETCH"),
    ),
    Mistake(
        "no-set-operations",
        "{found} is not part of the language: a query is one SELECT",
        "Register each part as a query of its own.",
        (
            "SELECT a FROM A UNION SELECT a FROM B",
            "SELECT a FROM A WHERE a = 1 UNION ALL SELECT a FROM B",
            "SELECT a FROM A EXCEPT SELECT a FROM B",
            "SELECT a FROM A INTERSECT SELECT a FROM B",
        ),
        words=("UNION", "EXCEPT", "INTERSECT", "MINUS"),
    ),
    Mistake(
        "no-over",
        "OVER is not part of the language",
        "Windows are given once for the whole query: WINDOW 1 hour SLIDE 1 min.",
        ("SELECT SUM(a) OVER (PARTITION BY b) FROM A",),
        words=("OVER", "QUALIFY"),
    ),
    # Expressions
    Mistake(
        "operand-missing",
        "a value is missing before {found}",
        "An operator stands between two values, such as  A.Value > 30.",
        (
            "SELECT a FROM A WHERE a =",
            "SELECT a FROM A WHERE a > WINDOW 1 min",
            "SELECT a + FROM A",
            "SELECT a * FROM A",
            "SELECT a FROM A WHERE a LIKE WINDOW 1 min",
            "SELECT - FROM A",
            "SELECT a || FROM A",
            "SELECT a FROM A WHERE a <> AND b = 1",
        ),
        any_word=True,
    ),
    Mistake(
        "condition-missing",
        "a condition is missing before {found}",
        "AND, OR and NOT need a condition after them, such as  A.Value > 30.",
        (
            "SELECT a FROM A WHERE a = 1 AND",
            "SELECT a FROM A WHERE a = 1 OR WINDOW 1 min",
            "SELECT a FROM A WHERE NOT WINDOW 1 min",
            "SELECT a FROM A WHERE a = 1 AND AND b = 2",
        ),
        any_word=True,
    ),
    Mistake(
        "chained-comparison",
        "comparisons cannot be chained",
        "Write  A.Value > 1 AND A.Value < 5  or  A.Value BETWEEN 1 AND 5.",
        (
            "SELECT a FROM A WHERE 1 < a < 5",
            "SELECT a FROM A WHERE a = b = c",
            "SELECT a FROM A WHERE 1 <= a <= 5",
            "SELECT a FROM A WHERE 5 > a > 1",
            "SELECT a FROM A WHERE 5 >= a >= 1",
            "SELECT a FROM A WHERE a <> b <> c",
        ),
    ),
    Mistake(
        "between-without-and",
        "BETWEEN needs AND and an upper bound, found {found}",
        "Write  A.Value BETWEEN 1 AND 5.",
        (
            "SELECT a FROM A WHERE a BETWEEN 1 WINDOW 1 min",
            "SELECT a FROM A WHERE a BETWEEN 1",
            "SELECT a FROM A WHERE a BETWEEN 1, 5",
            "SELECT a FROM A WHERE a BETWEEN 1 OR 5",
        ),
    ),
    Mistake(
        "between-nothing",
        "a bound is missing before {found}",
        "Write  A.Value BETWEEN 1 AND 5.",
        ("SELECT a FROM A WHERE a BETWEEN AND 5", "SELECT a FROM A WHERE a BETWEEN 1 AND WINDOW 1 min"),
        any_word=True,
    ),
    Mistake(
        "in-without-list",
        "IN needs a list in parentheses, found {found}",
        "Write  A.Owner IN ('x', 'y').",
        (
            "SELECT a FROM A WHERE a IN 1",
            "SELECT a FROM A WHERE a IN WINDOW 1 min",
            "SELECT a FROM A WHERE a NOT IN b",
        ),
        any_word=True,
    ),
    Mistake(
        "in-nothing",
        "the list of IN is empty",
        "Write at least one value:  A.Owner IN ('x').",
        ("SELECT a FROM A WHERE a IN ()", "SELECT a FROM A WHERE a NOT IN ()"),
    ),
    Mistake(
        "is-what",
        "IS cannot be followed by {found}",
        "Write  IS NULL, IS NOT NULL, IS TRUE, IS FALSE  or  IS DISTINCT FROM x.",
        (
            "SELECT a FROM A WHERE a IS 5",
            "SELECT a FROM A WHERE a IS NOT",
            "SELECT a FROM A WHERE a IS WINDOW 1 min",
        ),
        any_word=True,
    ),
    Mistake(
        "not-what",
        "NOT cannot be followed by {found} here",
        "Write  NOT IN (…), NOT LIKE '…'  or  NOT BETWEEN … AND ….",
        (
            "SELECT a FROM A WHERE a NOT 5",
            "SELECT a FROM A WHERE a NOT = 5",
            "SELECT a FROM A WHERE a NOT NULL",
        ),
        any_word=True,
    ),
    Mistake(
        "parenthesis-never-closed",
        "a parenthesis is not closed before {found}",
        "Add the closing ).",
        (
            "SELECT (a + 1 FROM A",
            "SELECT a FROM A WHERE (a = 1 WINDOW 1 min",
            "SELECT MAX(a FROM A",
            "SELECT a FROM A WHERE a IN (1, 2 WINDOW 1 min",
            "SELECT CAST(a AS INT FROM A",
            "SELECT COUNT(* FROM A",
            "SELECT COUNT(DISTINCT a FROM A",
            "SELECT f(a, b FROM A",
            "SELECT a FROM A WHERE (a = 1",
            "CREATE STREAM A (a INT, ts TIMESTAMP FROM rate",
            "SELECT CAST(a AS DECIMAL(5, 2 FROM A",
        ),
    ),
    Mistake(
        "parenthesis-never-opened",
        "this parenthesis was never opened",
        "Take it out, or add an opening ( before it.",
        (
            "SELECT a) FROM A",
            "SELECT a FROM A WHERE a = 1)",
            "SELECT a FROM A)",
            "SELECT a FROM A WINDOW 1 min)",
            "SELECT a + 1) FROM A",
            "SELECT a FROM A WHERE a = 1 AND b = 2)",
        ),
    ),
    Mistake(
        "parenthesis-empty",
        "there is nothing between the parentheses",
        "Write an expression between them, or take them out.",
        ("SELECT () FROM A", "SELECT a FROM A WHERE ()"),
    ),
    Mistake(
        "argument-missing",
        "an argument is missing before {found}",
        "Arguments stand between commas, such as  COALESCE(A.Value, 0).",
        (
            "SELECT f(a, ) FROM A",
            "SELECT f(, a) FROM A",
            "SELECT f( FROM A",
            "SELECT a FROM A WHERE a IN (1, )",
        ),
        any_word=True,
    ),
    Mistake(
        "dot-nothing",
        "a column's name is missing after the dot, before {found}",
        "Write  A.Value  or  A.*.",
        ("SELECT A. FROM A", "SELECT a FROM A WHERE A. = 1", "SELECT A.5 FROM A"),
        any_word=True,
    ),
    Mistake(
        "case-without-when",
        "CASE needs WHEN, found {found}",
        "Write  CASE WHEN A.Value > 30 THEN 'hot' ELSE 'cold' END.",
        (
            "SELECT CASE a END FROM A",
            "SELECT CASE END FROM A",
            "SELECT CASE a THEN 1 END FROM A",
            "SELECT CASE ELSE 1 END FROM A",
        ),
    ),
    Mistake(
        "case-without-then",
        "WHEN needs a condition and THEN, found {found}",
        "Write  CASE WHEN A.Value > 30 THEN 'hot' ELSE 'cold' END.",
        (
            "SELECT CASE WHEN a END FROM A",
            "SELECT CASE WHEN a ELSE 1 END FROM A",
            "SELECT CASE WHEN THEN 1 END FROM A",
            "SELECT CASE WHEN a = 1 'x' END FROM A",
        ),
    ),
    Mistake(
        "case-without-result",
        "a result is missing before {found}",
        "Write  CASE WHEN A.Value > 30 THEN 'hot' ELSE 'cold' END.",
        ("SELECT CASE WHEN a THEN END FROM A", "SELECT CASE WHEN a THEN 1 ELSE END FROM A"),
        any_word=True,
    ),
    Mistake(
        "case-without-end",
        "CASE is not closed with END before {found}",
        "Write  CASE WHEN A.Value > 30 THEN 'hot' ELSE 'cold' END.",
        (
            "SELECT CASE WHEN a THEN 1 FROM A",
            "SELECT CASE WHEN a THEN 1 ELSE 2 FROM A",
            "SELECT CASE WHEN a THEN 1, b FROM A",
        ),
    ),
    Mistake(
        "cast-without-type",
        "CAST needs AS and a type, found {found}",
        "Write  CAST(A.Value AS INT).",
        (
            "SELECT CAST(a) FROM A",
            "SELECT CAST(a, INT) FROM A",
            "SELECT CAST(a AS) FROM A",
            "SELECT CAST(a INT) FROM A",
        ),
    ),
    Mistake(
        "interval-without-duration",
        "INTERVAL needs a duration, found {found}",
        "Write  INTERVAL 5 min.",
        (
            "SELECT a FROM A WHERE ts > INTERVAL min",
            "SELECT a FROM A WHERE ts > INTERVAL 5",
            "SELECT INTERVAL FROM A",
        ),
        any_word=True,
    ),
    # Sinks and definitions
    Mistake(
        "insert-into-what",
        "INSERT needs INTO and a Spark format, found {found}",
        "Write  INSERT INTO json 'out/hot' SELECT ….",
        (
            "INSERT json 'out/hot' SELECT a FROM A",
            "INSERT INTO 'out/hot' SELECT a FROM A",
            "INSERT INTO",
            "INSERT",
        ),
        any_word=True,
    ),
    Mistake(
        "insert-without-select",
        "INSERT INTO needs a SELECT, found {found}",
        "Write  INSERT INTO json 'out/hot' SELECT ….",
        (
            "INSERT INTO json 'out/hot'",
            "INSERT INTO json 'out/hot' VALUES (1)",
            "INSERT INTO json",
            "INSERT INTO json VALUES (1)",
        ),
        any_word=True,
    ),
    Mistake(
        "create-what",
        "cannot create {found}",
        "Expected CREATE STREAM, CREATE RELATION or CREATE QUERY.",
        ("CREATE TABLE t (a INT)", "CREATE", "CREATE VIEW v AS SELECT a FROM A"),
        any_word=True,
    ),
    Mistake(
        "create-without-name",
        "a name is missing before {found}",
        f"For example:\n{_STREAM}",
        (
            "CREATE STREAM (a INT) FROM rate",
            "CREATE RELATION (a INT) FROM csv 'x'",
            "CREATE QUERY AS SELECT a FROM A",
        ),
        any_word=True,
    ),
    Mistake(
        "create-without-columns",
        "the columns are missing before {found}",
        f"For example:\n{_STREAM}",
        ("CREATE STREAM A FROM parquet 'data/a'", "CREATE RELATION A FROM csv 'data/a'", "CREATE STREAM A"),
        any_word=True,
    ),
    Mistake(
        "column-without-name",
        "a column's name and type are missing before {found}",
        f"For example:\n{_STREAM}",
        ("CREATE STREAM A () FROM rate", "CREATE STREAM A (a INT, ) FROM rate"),
        any_word=True,
    ),
    Mistake(
        "column-without-type",
        "the column's type is missing before {found}",
        "Types are Spark's: INT, BIGINT, DOUBLE, DECIMAL(10, 2), STRING, BOOLEAN, DATE, TIMESTAMP, …",
        ("CREATE STREAM A (a, b INT) FROM rate", "CREATE STREAM A (a) FROM rate"),
        any_word=True,
    ),
    Mistake(
        "create-without-source",
        "FROM and the source are missing before {found}",
        f"For example:\n{_STREAM}",
        (
            "CREATE STREAM A (ts TIMESTAMP) TIMESTAMP BY ts",
            "CREATE STREAM A (ts TIMESTAMP)",
            "CREATE RELATION A (a INT)",
            "CREATE STREAM A (ts TIMESTAMP) LATENESS 5 sec",
            "CREATE RELATION A (a INT) VALID FROM a TO b",
        ),
    ),
    Mistake(
        "source-what",
        "a Spark format is missing after FROM, before {found}",
        "Write  FROM parquet 'data/temperature'; other formats are json, csv, rate, kafka, delta, …",
        (
            "CREATE STREAM A (ts TIMESTAMP) FROM 'data/a'",
            "CREATE STREAM A (ts TIMESTAMP) FROM",
            "CREATE RELATION A (a INT) FROM 'x'",
        ),
        any_word=True,
    ),
    Mistake(
        "path-without-quotes",
        "a path stands in single quotes, found {found}",
        "Write  FROM parquet 'data/temperature'.",
        (
            "CREATE STREAM A (ts TIMESTAMP) FROM parquet data/a",
            "CREATE RELATION A (a INT) FROM csv data/a",
            "CREATE STREAM A (ts TIMESTAMP) FROM parquet /data/a",
            "CREATE RELATION A (a INT) FROM csv /data/a",
        ),
    ),
    Mistake(
        "timestamp-by-what",
        "TIMESTAMP needs BY and a column, found {found}",
        "Write  TIMESTAMP BY ts.",
        (
            "CREATE STREAM A (ts TIMESTAMP) TIMESTAMP ts FROM rate",
            "CREATE STREAM A (ts TIMESTAMP) TIMESTAMP BY FROM rate",
        ),
        any_word=True,
    ),
    Mistake(
        "clause-without-duration",
        "a duration is missing before {found}",
        "Write for example  LATENESS 5 sec  or  RETAIN 1 hour.",
        (
            "CREATE STREAM A (ts TIMESTAMP) LATENESS FROM rate",
            "CREATE STREAM A (ts TIMESTAMP) RETAIN FROM rate",
            "CREATE STREAM A (ts TIMESTAMP) IDLE FROM rate",
        ),
        any_word=True,
    ),
    Mistake(
        "valid-what",
        "VALID needs FROM column TO column, found {found}",
        "Write  VALID FROM since TO until.",
        (
            "CREATE RELATION A (a INT) VALID since TO until FROM csv 'x'",
            "CREATE RELATION A (a INT) VALID FROM since FROM csv 'x'",
            "CREATE RELATION A (a INT) VALID FROM since TO FROM csv 'x'",
        ),
        any_word=True,
    ),
    Mistake(
        "option-what",
        "an option is written name = value, found {found}",
        "Write  OPTIONS (header = true, maxFilesPerTrigger = 1).",
        (
            "CREATE STREAM A (ts TIMESTAMP) FROM rate OPTIONS (header)",
            "CREATE STREAM A (ts TIMESTAMP) FROM rate OPTIONS ()",
            "CREATE STREAM A (ts TIMESTAMP) FROM rate OPTIONS (a =)",
            "CREATE STREAM A (ts TIMESTAMP) FROM rate OPTIONS a = 1",
            "CREATE STREAM A (ts TIMESTAMP) FROM rate OPTIONS ('a')",
        ),
        any_word=True,
    ),
    Mistake(
        "create-query-without-as",
        "AS is missing before {found}",
        "Write  CREATE QUERY hot AS SELECT ….",
        (
            "CREATE QUERY hot SELECT a FROM A",
            "CREATE QUERY hot",
            "CREATE QUERY hot INSERT INTO json 'x' SELECT a FROM A",
        ),
        any_word=True,
    ),
    Mistake(
        "query-without-select",
        "a SELECT is missing before {found}",
        "Write  CREATE QUERY hot AS SELECT ….",
        ("CREATE QUERY hot AS", "CREATE QUERY hot AS hot", "ALTER QUERY hot AS", "ALTER QUERY hot AS CREATE"),
        any_word=True,
    ),
    # Changes and questions
    Mistake(
        "drop-what",
        "cannot drop {found}",
        "Expected DROP QUERY, DROP STREAM or DROP RELATION and a name.",
        ("DROP hot", "DROP", "DROP TABLE t"),
        any_word=True,
    ),
    Mistake(
        "drop-without-name",
        "the name of what to drop is missing before {found}",
        "Write  DROP QUERY hot.",
        ("DROP QUERY", "DROP QUERY 5", "DROP STREAM", "DROP QUERY IF EXISTS", "DROP QUERY IF hot"),
        any_word=True,
    ),
    Mistake(
        "alter-what",
        "cannot alter {found}",
        "Only queries are altered: ALTER QUERY hot SET WINDOW 10 min  or  ALTER QUERY hot AS SELECT ….",
        ("ALTER STREAM A", "ALTER", "ALTER hot SET WINDOW 10 min", "ALTER QUERY", "ALTER QUERY 5"),
        any_word=True,
    ),
    Mistake(
        "alter-how",
        "what to change is missing before {found}",
        "Write  ALTER QUERY hot SET WINDOW 10 min  or  ALTER QUERY hot AS SELECT ….",
        (
            "ALTER QUERY hot WINDOW 10 min",
            "ALTER QUERY hot",
            "ALTER QUERY hot SET",
            "ALTER QUERY hot SET 10 min",
            "ALTER QUERY hot SET SLIDE 1 sec",
            "ALTER QUERY hot SELECT a FROM A",
        ),
        any_word=True,
    ),
    Mistake(
        "show-what",
        "what to show is missing",
        "Write  SHOW STREAMS, RELATIONS, QUERIES, PLAN, SLICES, STATE or SETTINGS.",
        ("SHOW", "SHOW 5", "SHOW 'x'"),
        any_word=True,
    ),
    Mistake(
        "describe-what",
        "what to describe is missing",
        "Write  DESCRIBE Temperature.",
        ("DESCRIBE", "DESCRIBE 5"),
        any_word=True,
    ),
    Mistake(
        "explain-what",
        "cannot explain {found}",
        "Write  EXPLAIN SELECT …, EXPLAIN QUERY hot  or  EXPLAIN ALL; LOGICAL, PHYSICAL, SHARED or COST may stand before.",
        (
            "EXPLAIN hot",
            "EXPLAIN",
            "EXPLAIN LOGICAL",
            "EXPLAIN QUERY",
            "EXPLAIN COST hot",
            "EXPLAIN VERBOSE",
            "EXPLAIN SHOW STREAMS",
            "EXPLAIN VERBOSE COST",
        ),
        any_word=True,
    ),
    Mistake(
        "set-what",
        "a setting is written SET name = value, found {found}",
        "Write for example  SET reevaluate = 5 sec;  SHOW SETTINGS lists them.",
        (
            "SET",
            "SET reevaluate",
            "SET reevaluate 5",
            "SET reevaluate =",
            "SET = 5",
            "SET reevaluate TO 5 sec",
        ),
        any_word=True,
    ),
    Mistake(
        "semicolon-missing",
        "a new statement starts at {found}, but the one before it has not ended",
        "Put a semicolon between two statements.",
        (
            "DROP QUERY hot DROP QUERY cold",
            "SHOW STREAMS CREATE QUERY a AS SELECT a FROM A",
            "SELECT a FROM A WINDOW 1 min CREATE QUERY b AS SELECT b FROM B",
            "SET a = 1 SHOW QUERIES",
            "SELECT a FROM A WHERE a = 1; SELECT a FROM A WHERE a = 1 DROP QUERY b",
        ),
        words=("CREATE", "DROP", "ALTER", "INSERT", "SHOW", "DESCRIBE", "EXPLAIN", "SET"),
    ),
)
