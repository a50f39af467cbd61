"""Nexmark's people, auctions and bids: made by a seeded generator, the same every time.

Of 50 events one is a person, three are auctions and 46 are bids. Half of the bids are for the hot auction (the first of
the last hundred), three quarters are by the hot bidder (the second of the last hundred people), three quarters of the
auctions are by the hot seller (the first of them). The others are chosen among the hundred auctions in flight and the
thousand people who are active, and ten of each that are still to come. Prices are spread evenly over their logarithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

BEGIN = 1_700_000_000
"""The second of the first event."""
EPOCH = 50
PEOPLE, AUCTIONS, BIDS = 1, 3, 46
FIRST_ID = 1000
FIRST_CATEGORY, CATEGORIES = 10, 5
IN_FLIGHT, ACTIVE, LEAD, HOT = 100, 1000, 10, 100
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = (
    "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne",
)  # fmt: skip
FIRST_NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
ALL_CHANNELS = 10_000

SCHEMAS: dict[str, dict[str, str]] = {
    "Person": {"id": "bigint", "name": "string", "email": "string", "creditCard": "string", "city": "string",
               "state": "string", "ts": "timestamp", "extra": "string"},
    "Auction": {"id": "bigint", "itemName": "string", "description": "string", "initialBid": "bigint",
                "reserve": "bigint", "ts": "timestamp", "expires": "timestamp", "seller": "bigint",
                "category": "bigint", "extra": "string"},
    "Bid": {"auction": "bigint", "bidder": "bigint", "price": "bigint", "channel": "string", "url": "string",
            "ts": "timestamp", "extra": "string"},
}  # fmt: skip


@dataclass(frozen=True)
class Events:
    """So many events a second, for so long, in files of some seconds."""

    rate: int
    seconds: int
    per_file: int = 5
    seed: int = 0

    @property
    def rows(self) -> int:
        """All the events."""
        return self.rate * self.seconds

    def rates(self) -> dict[str, float]:
        """Rows a second of each stream."""
        parts = {"Person": PEOPLE, "Auction": AUCTIONS, "Bid": BIDS}
        return {name: self.rate * part / EPOCH for name, part in parts.items()}


def make_events(folder: Path, events: Events, *, csv: bool = False) -> None:
    """Files of each stream in the order of time: Parquet, and with `csv` also one of CSV each, below `csv`."""
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        for name, text in _selects(events).items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            for number, (first, last) in enumerate(_spans(events)):
                path = folder / name / f"{number:05}.parquet"
                db.execute(f"COPY ({text.format(first=first, last=last)}) TO '{path}' (FORMAT parquet)")
            if csv:
                (folder / "csv" / name).mkdir(parents=True, exist_ok=True)
                times = [column for column, type_ in SCHEMAS[name].items() if type_ == "timestamp"]
                shown = ", ".join(f"strftime({column}, '%Y-%m-%d %H:%M:%S.%g') AS {column}" for column in times)
                rows = f"SELECT * REPLACE ({shown}) FROM '{folder / name}/*.parquet' ORDER BY ts"
                db.execute(f"COPY ({rows}) TO '{folder / 'csv' / name / 'rows.csv'}' (FORMAT csv, HEADER false)")


def _spans(events: Events) -> Iterator[tuple[int, int]]:
    """The first event of each file and the one after its last."""
    for start in range(0, events.seconds, events.per_file):
        yield start * events.rate, min(start + events.per_file, events.seconds) * events.rate


def _selects(events: Events) -> dict[str, str]:
    """The rows of each stream among the events from {first} to {last}."""
    rate, seed = events.rate, events.seed

    def draw(what: str, below: int | str) -> str:
        return f"(hash(n, {seed}, '{what}') % ({below}))::BIGINT"

    def one_of(what: str, values: tuple[str, ...]) -> str:
        return f"[{', '.join(repr(value) for value in values)}][{draw(what, len(values))} + 1]"

    def price(what: str) -> str:
        return f"round(pow(10.0, {draw(what, 1_000_000)} / 1000000.0 * 6.0) * 100.0)::BIGINT"

    def words(what: str, length: int) -> str:
        return f"left(md5(n::VARCHAR || '{what}{seed}'), {length})"

    time = f"make_timestamptz({BEGIN * 1_000_000}::BIGINT + (n * 1000 // {rate}) * 1000)"
    last_person = f"(n // {EPOCH})"
    last_auction = f"((n // {EPOCH}) * {AUCTIONS} + least(n % {EPOCH}, {AUCTIONS}) - 1)"
    active = f"least({last_person} + 1, {ACTIVE})"
    any_person = f"({last_person} + 1 - {active} + {draw('person', f'{active} + {LEAD}')})"
    oldest = f"greatest({last_auction} - {IN_FLIGHT}, 0)"
    any_auction = f"({oldest} + {draw('auction', f'{last_auction} - {oldest} + 1 + {LEAD}')})"
    horizon = max(1, IN_FLIGHT * EPOCH // AUCTIONS * 1000 // rate)  # milliseconds in which so many auctions begin
    hot_auction = f"({last_auction} // {HOT} * {HOT})"
    hot_seller, hot_bidder = f"({last_person} // {HOT} * {HOT})", f"({last_person} // {HOT} * {HOT} + 1)"
    address = f"'https://www.nexmark.com/' || {words('url', 6)} || '/item.htm?query=1'"
    source = "FROM range({first}, {last}) events(n) WHERE"
    return {
        "Person": f"""
            SELECT {last_person} + {FIRST_ID} AS id,
                   {one_of("first", FIRST_NAMES)} || ' ' || {one_of("last", LAST_NAMES)} AS name,
                   {words("mail", 7)} || '@' || {words("host", 5)} || '.com' AS email,
                   printf('%016d', {draw("card", 10**16)}) AS creditCard,
                   {one_of("city", CITIES)} AS city, {one_of("state", STATES)} AS state,
                   {time} AS ts, {words("p", 32)} AS extra
            {source} n % {EPOCH} < {PEOPLE}
        """,
        "Auction": f"""
            SELECT {last_auction} + {FIRST_ID} AS id, {words("item", 20)} AS itemName,
                   {words("about", 32)} AS description,
                   {price("initial")} AS initialBid, {price("initial")} + {price("reserve")} AS reserve, {time} AS ts,
                   {time} + to_milliseconds(1 + {draw("length", 2 * horizon)}) AS expires,
                   {FIRST_ID} + IF({draw("hot seller", 4)} > 0, {hot_seller}, {any_person}) AS seller,
                   {FIRST_CATEGORY} + {draw("category", CATEGORIES)} AS category, {words("a", 32)} AS extra
            {source} n % {EPOCH} >= {PEOPLE} AND n % {EPOCH} < {PEOPLE + AUCTIONS}
        """,
        "Bid": f"""
            SELECT {FIRST_ID} + IF({draw("hot auction", 2)} > 0, {hot_auction}, {any_auction}) AS auction,
                   {FIRST_ID} + IF({draw("hot bidder", 4)} > 0, {hot_bidder}, {any_person}) AS bidder,
                   {price("price")} AS price,
                   IF({draw("hot channel", 2)} > 0, {one_of("channel", CHANNELS)},
                      'channel-' || {draw("other", ALL_CHANNELS)}) AS channel,
                   {address} || IF({draw("tagged", 10)} > 0, '&channel_id=' || {draw("tag", 2**20)}, '') AS url,
                   {time} AS ts, {words("b", 32)} AS extra
            {source} n % {EPOCH} >= {PEOPLE + AUCTIONS}
        """,
    }
