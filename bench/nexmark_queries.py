"""The queries of Nexmark that are joins or aggregates with windows, for each system in its own SQL.

A window of Penstock's at an instant t has the rows after t - W up to t, one of Flink's those from t - W on and before
t. Times are whole milliseconds, so that rows a millisecond earlier make the same windows of both: Flink's queries read
`Bid_w`, whose event time is that. Joins that Nexmark asks over all of time have a window here, as everything that keeps
rows must. DuckDB is asked for the answers in one go, in plain SQL that shares nothing with the others; `_ts` is in
microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SECOND = 1_000_000

NOT_ASKED = {
    "q0, q1, q2, q10, q14, q21, q22": "a selection or projection of single bids: no window, nothing to keep or share",
    "q6": "the last ten auctions of each seller: windows of a number of rows are for a stream, not for each group of "
    "it (asked as q6, over a window of time)",
    "q9, q18, q19": "the first rows of each group: there is no ROW_NUMBER() OVER (…)",
    "q11": "windows that end with a pause: there are no session windows",
    "q12": "windows of the time of processing: time is that of the rows (asked as q12, over event time)",
    "q13": "a look-up in a file for each bid: no window (it is a join with a relation)",
}
"""Queries of the suite that are not asked as they stand, and why."""


@dataclass(frozen=True)
class Question:
    """A query: for Penstock, those that it reads, and for the others where it is natural; columns without `_ts`."""

    name: str
    about: str
    text: str
    columns: tuple[str, ...]
    duck: str
    reads: dict[str, str] = field(default_factory=dict)
    flink: str = ""
    spark: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """All that Penstock runs for it."""
        return {**self.reads, self.name: self.text}


def _at(row: str) -> str:
    return f"epoch_us({row}.ts)"


def _instant(row: str, window: int) -> str:
    """The instant whose window a row is in, where windows do not overlap."""
    return f"(({_at(row)} + {window * SECOND - 1}) // {window * SECOND} * {window * SECOND})"


def _near(a: str, b: str, window: int) -> str:
    return f"abs({_at(a)} - {_at(b)}) < {window * SECOND}"


def _tumble(stream: str, window: int) -> str:
    return f"TABLE(TUMBLE(TABLE {stream}_w, DESCRIPTOR(w), INTERVAL '{window}' SECOND(3)))"


def _between(a: str, b: str, window: int) -> str:
    """How Flink and Spark say that two rows are less than a window apart."""
    return f"{a}.ts > {b}.ts - INTERVAL '{window}' SECOND AND {a}.ts < {b}.ts + INTERVAL '{window}' SECOND"


def join_q3(
    window: int, category: int = 10, name: str = "q3", states: tuple[str, ...] = ("OR", "ID", "CA")
) -> Question:
    """Who sells in a category, in some states: auctions with their sellers."""
    columns = "P.name, P.city, P.state, A.id"
    among = " OR ".join(f"P.state = '{state}'" for state in states)
    where = f"A.seller = P.id AND A.category = {category} AND ({among})"
    own = f"SELECT {columns} FROM Auction A, Person P WHERE {where}"
    return Question(
        name, "auctions of a category with their sellers from three states",
        f"{own} WINDOW {window} sec",
        ("name", "city", "state", "id"),
        f"SELECT greatest({_at('A')}, {_at('P')}) AS _ts, {columns} FROM Auction A, Person P "
        f"WHERE {where} AND {_near('A', 'P', window)}",
        flink=f"{own} AND {_between('A', 'P', window)}",
        spark=f"{own} AND {_between('A', 'P', window)}",
    )  # fmt: skip


def join_q20(window: int, category: int = 10, name: str = "q20") -> Question:
    """Bids with their auctions, of a category."""
    columns = "B.auction, B.bidder, B.price, A.seller, A.category"
    where = f"B.auction = A.id AND A.category = {category}"
    own = f"SELECT {columns} FROM Bid B, Auction A WHERE {where}"
    return Question(
        name, "bids with their auctions of a category",
        f"{own} WINDOW {window} sec",
        ("auction", "bidder", "price", "seller", "category"),
        f"SELECT greatest({_at('A')}, {_at('B')}) AS _ts, {columns} FROM Bid B, Auction A "
        f"WHERE {where} AND {_near('A', 'B', window)}",
        flink=f"{own} AND {_between('B', 'A', window)}",
        spark=f"{own} AND {_between('B', 'A', window)}",
    )  # fmt: skip


def questions(window: int = 10, slide: int = 2) -> dict[str, Question]:
    """The queries, with a window and a slide in seconds, which Nexmark has at ten and two."""
    tumbling = f"WINDOW {window} sec SLIDE {window} sec"
    just_now = f"WINDOW {window} sec SLIDE {window} sec"  # of an answer that comes once in a window, the newest
    final_of = (
        "SELECT A.id, A.category, A.seller, MAX(B.price) AS final FROM Auction A, Bid B "
        f"WHERE A.id = B.auction AND B.ts BETWEEN A.ts AND A.expires GROUP BY A.id, A.category, A.seller {tumbling}"
    )
    finals = (
        f"SELECT {_instant('A', window)} AS _ts, A.id, A.category, A.seller, max(B.price) AS final "
        "FROM Auction A, Bid B WHERE A.id = B.auction AND B.ts BETWEEN A.ts AND A.expires "
        f"AND {_instant('A', window)} = {_instant('B', window)} GROUP BY ALL"
    )
    instants = f"range(({_at('B')} + {slide * SECOND - 1}) // {slide * SECOND}, "
    instants += f"({_at('B')} + {(window + slide) * SECOND - 1}) // {slide * SECOND})"
    counted = (
        f"SELECT k * {slide * SECOND} AS _ts, auction, count(*) AS num "
        f"FROM (SELECT B.auction, unnest({instants}) AS k FROM Bid B) GROUP BY ALL"
    )
    hop = f"TABLE(HOP(TABLE Bid_w, DESCRIPTOR(w), INTERVAL '{slide}' SECOND(3), INTERVAL '{window}' SECOND(3)))"
    per_window = "GROUP BY auction, window_start, window_end"
    counted_by_flink = f"SELECT auction, COUNT(*) AS num, window_start, window_end FROM {hop} {per_window}"
    ranks = {
        f"rank{number}_{what}": (kind, condition, column)
        for what, kind, column in (
            ("bids", "SUM", ""),
            ("bidders", "COUNT", "bidder"),
            ("auctions", "COUNT", "auction"),
        )
        for number, condition in enumerate(
            ("price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000"), 1
        )
    }

    def rank(kind: str, condition: str, column: str) -> str:
        """A count of the bids, or of different values, of a price."""
        if kind == "SUM":
            return f"SUM(CASE WHEN {condition} THEN 1 ELSE 0 END)"
        return f"COUNT(DISTINCT CASE WHEN {condition} THEN {column} END)"

    many = {
        "total_bids": "COUNT(*)",
        "total_bidders": "COUNT(DISTINCT bidder)",
        "total_auctions": "COUNT(DISTINCT auction)",
    }
    many |= {name: rank(*found) for name, found in ranks.items()}
    few = {"total_bids": "COUNT(*)", **{name: rank(*found) for name, found in ranks.items() if found[0] == "SUM"}}
    few |= {"min_price": "MIN(price)", "max_price": "MAX(price)", "avg_price": "AVG(price)", "sum_price": "SUM(price)"}

    def statistics(name: str, about: str, group: str, values: dict[str, str]) -> Question:
        groups = [group] if group else []
        shown = ", ".join([*groups, *(f"{text} AS {column}" for column, text in values.items())])
        by = f" GROUP BY {group}" if group else ""
        plain = all("DISTINCT" not in text and "AVG" not in text for text in values.values())
        columns = f"{group}, window_start, window_end" if group else "window_start, window_end"
        return Question(
            name, about,
            f"SELECT {shown} FROM Bid B{by} {tumbling}",
            (*groups, *values),
            f"SELECT {_instant('B', window)} AS _ts, {shown} FROM Bid B GROUP BY {', '.join(['_ts', *groups])}",
            flink=f"SELECT {shown} FROM {_tumble('Bid', window)} GROUP BY {columns}" if plain else "",
        )  # fmt: skip

    found = [
        join_q3(window),
        Question(
            "q4", "the average of the auctions' highest bids, by category",
            f"SELECT f.category, AVG(f.final) AS final FROM final f GROUP BY f.category {just_now}",
            ("category", "final"),
            f"SELECT _ts, category, avg(final) AS final FROM ({finals}) GROUP BY ALL",
            reads={"final": final_of},
        ),
        Question(
            "q5", "the auctions with the most bids, again and again",
            "SELECT c.auction, c.num FROM counts c [RANGE 1 ms], most m [RANGE 1 ms] WHERE c.num = m.num",
            ("auction", "num"),
            f"WITH c AS ({counted}) SELECT _ts, auction, num FROM c "
            "WHERE num = (SELECT max(num) FROM c AS other WHERE other._ts = c._ts)",
            reads={
                "counts": f"SELECT B.auction, COUNT(*) AS num FROM Bid B GROUP BY B.auction "
                f"WINDOW {window} sec SLIDE {slide} sec",
                "most": f"SELECT MAX(c.num) AS num FROM counts c WINDOW {slide} sec SLIDE {slide} sec",
            },
            flink=f"SELECT c.auction, c.num FROM ({counted_by_flink}) c JOIN (SELECT MAX(num) AS num, window_start, "
            f"window_end FROM ({counted_by_flink}) GROUP BY window_start, window_end) m "
            "ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.num = m.num",
        ),
        Question(
            "q6", "the average of the auctions' highest bids, by seller",
            f"SELECT f.seller, AVG(f.final) AS final FROM final f GROUP BY f.seller {just_now}",
            ("seller", "final"),
            f"SELECT _ts, seller, avg(final) AS final FROM ({finals}) GROUP BY ALL",
            reads={"final": final_of},
        ),
        Question(
            "q7", "the highest bids of each window",
            f"SELECT B.auction, B.price, B.bidder FROM Bid B [RANGE {window} sec], highest h [RANGE 1 ms] "
            "WHERE B.price = h.price",
            ("auction", "price", "bidder"),
            f"SELECT {_instant('B', window)} AS _ts, auction, price, bidder FROM Bid B "
            f"QUALIFY price = max(price) OVER (PARTITION BY {_instant('B', window)})",
            reads={"highest": f"SELECT MAX(B.price) AS price FROM Bid B {tumbling}"},
            flink=f"SELECT b.auction, b.price, b.bidder FROM (SELECT * FROM {_tumble('Bid', window)}) b JOIN "
            f"(SELECT MAX(price) AS price, window_start, window_end FROM {_tumble('Bid', window)} "
            "GROUP BY window_start, window_end) h ON b.price = h.price AND b.window_start = h.window_start "
            "AND b.window_end = h.window_end",
        ),
        Question(
            "q8", "people who have come and opened an auction in the same window",
            f"SELECT DISTINCT P.id, P.name FROM Person P, Auction A WHERE P.id = A.seller {tumbling}",
            ("id", "name"),
            f"SELECT DISTINCT {_instant('P', window)} AS _ts, P.id, P.name FROM Person P, Auction A "
            f"WHERE P.id = A.seller AND {_instant('P', window)} = {_instant('A', window)}",
            flink="SELECT p.id, p.name FROM (SELECT id, name, window_start, window_end FROM "
            f"{_tumble('Person', window)} GROUP BY id, name, window_start, window_end) p JOIN (SELECT seller, "
            f"window_start, window_end FROM {_tumble('Auction', window)} GROUP BY seller, window_start, window_end) a "
            "ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end",
        ),
        Question(
            "q12", "how often each bidder bids",
            f"SELECT B.bidder, COUNT(*) AS bids FROM Bid B GROUP BY B.bidder {tumbling}",
            ("bidder", "bids"),
            f"SELECT {_instant('B', window)} AS _ts, bidder, count(*) AS bids FROM Bid B GROUP BY ALL",
            flink=f"SELECT bidder, COUNT(*) AS bids FROM {_tumble('Bid', window)} "
            "GROUP BY bidder, window_start, window_end",
        ),
        statistics("q15", "bids, bidders and auctions by price", "", many),
        statistics("q16", "the same for each channel", "channel", many),
        statistics("q17", "bids and prices of each auction", "auction", few),
        join_q20(window),
        Question(
            "q23", "bids by people who also sell: three streams",
            "SELECT B.bidder, B.price, P.name, A.id, A.category FROM Bid B, Person P, Auction A "
            f"WHERE P.id = B.bidder AND A.seller = B.bidder WINDOW {window} sec",
            ("bidder", "price", "name", "id", "category"),
            f"SELECT greatest({_at('A')}, {_at('B')}, {_at('P')}) AS _ts, B.bidder, B.price, P.name, A.id, A.category "
            "FROM Bid B, Person P, Auction A WHERE P.id = B.bidder AND A.seller = B.bidder AND "
            + " AND ".join(_near(a, b, window) for a, b in ("AB", "AP", "BP")),
        ),
    ]  # fmt: skip
    return {question.name: question for question in found}


def variants(count: int = 50, longest: int = 60) -> dict[str, Question]:
    """So many queries that run together: two joins, each with windows and categories of all kinds."""
    found = {}
    for number in range(count):
        category = 10 + number // 2 % 5
        window = max(1, longest * (1 + number // 10 % 5) // 5)
        name = f"v{number}"
        found[name] = join_q3(window, category, name) if number % 2 else join_q20(window, category, name)
    return found
