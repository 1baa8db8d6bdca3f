"""ClickBench's 43 questions on generated page views: `python -m benchmarks.hits --rows 1000000`. Ours without a JVM, plain Spark and DuckDB.

`hits_of` generates the columns that the questions use, with their types, and with a skew like that of real page views: few counters, users, URLs
and phrases are most of the rows (powers of a uniform number), most search phrases and phone models are empty, most engines are 0, a twentieth of the rows are
refreshes. It is not the original data set. Questions without a total order have one here, so that all engines give the same rows.
"""

from __future__ import annotations

import datetime as dt
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.query_suite import Suite, run

if TYPE_CHECKING:
    from pathlib import Path

_SEED = 62
_DAYS = 31
_START = dt.datetime(2013, 7, 1)
_WORDS = ("google", "cars", "weather", "news", "films", "games", "phone", "school", "travel", "music", "house", "job")


def _files(directory: Path, rows: int) -> dict[str, Path]:
    pq.write_table(hits_of(rows), directory / "hits.parquet")
    return {"hits": directory / "hits.parquet"}


def hits_of(rows: int) -> pa.Table:
    """Page views. Each column is drawn on its own, but for `EventDate` and the hashes, which follow from others."""
    random = np.random.default_rng(_SEED)

    def skewed(kinds: int, power: float) -> np.ndarray:
        """Numbers below `kinds`; the higher the power, the more rows have the first ones."""
        return (random.random(rows) ** power * kinds).astype(np.int64)

    def rarely(share: float, values: np.ndarray) -> np.ndarray:
        """Zero but for a share of the rows."""
        return np.where(random.random(rows) < share, values, 0)

    seconds = np.sort((random.random(rows) * _DAYS * 86_400).astype(np.int64))
    times = np.datetime64(_START, "us") + seconds.astype("timedelta64[s]")
    urls, referers, phrases = (
        skewed(max(rows // 20, 50), 3),
        skewed(max(rows // 30, 50), 4),
        rarely(0.13, 1 + skewed(max(rows // 60, 40), 2)),
    )
    url_texts = pa.array([_url(n) for n in range(max(rows // 20, 50))])
    referer_texts = pa.array(["", *(_referer(n) for n in range(1, max(rows // 30, 50)))])
    phrase_texts = pa.array(["", *(_phrase(n) for n in range(1, max(rows // 60, 40) + 1))])
    models = pa.array(["", *(f"model {n}" for n in range(1, 160))])
    return pa.table(
        {
            "WatchID": pa.array(random.integers(1 << 40, 1 << 62, rows)), "Title": url_texts.take(pa.array(skewed(len(url_texts), 2))),
            "EventTime": pa.array(times, pa.timestamp("us")), "EventDate": pa.array(times.astype("datetime64[D]"), pa.date32()),
            "CounterID": pa.array(1 + skewed(6_000, 6), pa.int32()), "ClientIP": pa.array(skewed(max(rows // 5, 50), 2), pa.int32()),
            "RegionID": pa.array(1 + skewed(5_000, 4), pa.int32()), "UserID": pa.array(1_000_000 + skewed(max(rows // 6, 50), 2)),
            "URL": url_texts.take(pa.array(urls)), "Referer": referer_texts.take(pa.array(referers)),
            "IsRefresh": pa.array(rarely(0.05, np.ones(rows, np.int64)), pa.int16()),
            "ResolutionWidth": pa.array(random.choice([0, 1024, 1280, 1366, 1440, 1600, 1920], rows), pa.int16()),
            "AdvEngineID": pa.array(rarely(0.006, 1 + skewed(60, 3)), pa.int16()), "MobilePhone": pa.array(rarely(0.06, 1 + skewed(120, 3)), pa.int16()),
            "MobilePhoneModel": models.take(pa.array(rarely(0.06, 1 + skewed(158, 3)))), "SearchEngineID": pa.array(rarely(0.15, 1 + skewed(90, 5)), pa.int16()),
            "SearchPhrase": phrase_texts.take(pa.array(phrases)), "TraficSourceID": pa.array(skewed(11, 2) - 1, pa.int16()),
            "IsLink": pa.array(rarely(0.02, np.ones(rows, np.int64)), pa.int16()), "IsDownload": pa.array(rarely(0.001, np.ones(rows, np.int64)), pa.int16()),
            "RefererHash": pa.array(referers * 3_594_120_000_172 + 5), "URLHash": pa.array(urls * 2_868_770_270_353 + 7),
            "WindowClientWidth": pa.array(random.integers(300, 1_920, rows), pa.int16()), "WindowClientHeight": pa.array(random.integers(200, 1_080, rows), pa.int16()),
            "DontCountHits": pa.array(rarely(0.03, np.ones(rows, np.int64)), pa.int16()),
        }
    )  # fmt: skip


def _url(n: int) -> str:
    return f"http://{'www.' * (n % 3 == 0)}{_WORDS[n % 12]}{n % 401}.example/{_WORDS[n * 7 % 12]}/page?id={n}"


def _referer(n: int) -> str:
    return f"http{'s' * (n % 2)}://{'www.' * (n % 4 == 0)}{_WORDS[n * 5 % 12]}{n % 97}.example/{n % 13}/from={n}"


def _phrase(n: int) -> str:
    return f"{_WORDS[n % 12]} {_WORDS[n // 12 % 12]} {n // 144}".rstrip()


_MONTH = "CounterID = 1 AND EventDate >= DATE '2013-07-01' AND EventDate <= DATE '2013-07-31'"
_VIEWS = f"{_MONTH} AND DontCountHits = 0 AND IsRefresh = 0"
_SOURCES = "CASE WHEN SearchEngineID = 0 AND AdvEngineID = 0 THEN Referer ELSE '' END"
_TEXTS = (
    "SELECT count(*) AS n FROM hits",
    "SELECT count(*) AS n FROM hits WHERE AdvEngineID <> 0",
    "SELECT sum(AdvEngineID) AS s, count(*) AS n, avg(ResolutionWidth) AS a FROM hits",
    "SELECT avg(UserID) AS a FROM hits",
    "SELECT count(DISTINCT UserID) AS n FROM hits",
    "SELECT count(DISTINCT SearchPhrase) AS n FROM hits",
    "SELECT min(EventDate) AS first, max(EventDate) AS last FROM hits",
    "SELECT AdvEngineID, count(*) AS n FROM hits WHERE AdvEngineID <> 0 GROUP BY AdvEngineID ORDER BY n DESC, AdvEngineID",
    "SELECT RegionID, count(DISTINCT UserID) AS u FROM hits GROUP BY RegionID ORDER BY u DESC, RegionID LIMIT 10",
    """SELECT RegionID, sum(AdvEngineID) AS s, count(*) AS c, avg(ResolutionWidth) AS a, count(DISTINCT UserID) AS u
        FROM hits GROUP BY RegionID ORDER BY c DESC, RegionID LIMIT 10""",
    """SELECT MobilePhoneModel, count(DISTINCT UserID) AS u FROM hits WHERE MobilePhoneModel <> ''
        GROUP BY MobilePhoneModel ORDER BY u DESC, MobilePhoneModel LIMIT 10""",
    """SELECT MobilePhone, MobilePhoneModel, count(DISTINCT UserID) AS u FROM hits WHERE MobilePhoneModel <> ''
        GROUP BY MobilePhone, MobilePhoneModel ORDER BY u DESC, MobilePhone, MobilePhoneModel LIMIT 10""",
    "SELECT SearchPhrase, count(*) AS c FROM hits WHERE SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC, SearchPhrase LIMIT 10",
    """SELECT SearchPhrase, count(DISTINCT UserID) AS u FROM hits WHERE SearchPhrase <> ''
        GROUP BY SearchPhrase ORDER BY u DESC, SearchPhrase LIMIT 10""",
    """SELECT SearchEngineID, SearchPhrase, count(*) AS c FROM hits WHERE SearchPhrase <> ''
        GROUP BY SearchEngineID, SearchPhrase ORDER BY c DESC, SearchEngineID, SearchPhrase LIMIT 10""",
    "SELECT UserID, count(*) AS c FROM hits GROUP BY UserID ORDER BY c DESC, UserID LIMIT 10",
    "SELECT UserID, SearchPhrase, count(*) AS c FROM hits GROUP BY UserID, SearchPhrase ORDER BY c DESC, UserID, SearchPhrase LIMIT 10",
    "SELECT UserID, SearchPhrase, count(*) AS c FROM hits GROUP BY UserID, SearchPhrase ORDER BY UserID, SearchPhrase LIMIT 10",
    """SELECT UserID, extract(MINUTE FROM EventTime) AS m, SearchPhrase, count(*) AS c FROM hits
        GROUP BY UserID, extract(MINUTE FROM EventTime), SearchPhrase ORDER BY c DESC, UserID, m, SearchPhrase LIMIT 10""",
    "SELECT UserID FROM hits WHERE UserID = 1000435",
    "SELECT count(*) AS n FROM hits WHERE URL LIKE '%google%'",
    """SELECT SearchPhrase, min(URL) AS u, count(*) AS c FROM hits WHERE URL LIKE '%google%' AND SearchPhrase <> ''
        GROUP BY SearchPhrase ORDER BY c DESC, SearchPhrase LIMIT 10""",
    """SELECT SearchPhrase, min(URL) AS u, min(Title) AS t, count(*) AS c, count(DISTINCT UserID) AS d FROM hits
        WHERE Title LIKE '%google%' AND URL NOT LIKE '%.google%' AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC, SearchPhrase LIMIT 10""",
    "SELECT * FROM hits WHERE URL LIKE '%google%' ORDER BY EventTime, WatchID LIMIT 10",
    "SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime, SearchPhrase LIMIT 10",
    "SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY SearchPhrase LIMIT 10",
    "SELECT SearchPhrase, EventTime FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime, SearchPhrase LIMIT 10",
    """SELECT CounterID, avg(length(URL)) AS l, count(*) AS c FROM hits WHERE URL <> '' GROUP BY CounterID HAVING count(*) > 1000
        ORDER BY l DESC, CounterID LIMIT 25""",
    """SELECT regexp_replace(Referer, '^https?://(?:www[.])?([^/]+)/.*$', '$1') AS k, avg(length(Referer)) AS l, count(*) AS c, min(Referer) AS m
        FROM hits WHERE Referer <> '' GROUP BY regexp_replace(Referer, '^https?://(?:www[.])?([^/]+)/.*$', '$1') HAVING count(*) > 1000
        ORDER BY l DESC, k LIMIT 25""",
    f"SELECT {', '.join(f'sum(ResolutionWidth + {n}) AS s{n}' for n in range(90))} FROM hits",
    """SELECT SearchEngineID, ClientIP, count(*) AS c, sum(IsRefresh) AS r, avg(ResolutionWidth) AS a FROM hits WHERE SearchPhrase <> ''
        GROUP BY SearchEngineID, ClientIP ORDER BY c DESC, SearchEngineID, ClientIP LIMIT 10""",
    """SELECT WatchID, ClientIP, count(*) AS c, sum(IsRefresh) AS r, avg(ResolutionWidth) AS a FROM hits WHERE SearchPhrase <> ''
        GROUP BY WatchID, ClientIP ORDER BY c DESC, WatchID, ClientIP LIMIT 10""",
    """SELECT WatchID, ClientIP, count(*) AS c, sum(IsRefresh) AS r, avg(ResolutionWidth) AS a FROM hits
        GROUP BY WatchID, ClientIP ORDER BY c DESC, WatchID, ClientIP LIMIT 10""",
    "SELECT URL, count(*) AS c FROM hits GROUP BY URL ORDER BY c DESC, URL LIMIT 10",
    "SELECT 1 AS one, URL, count(*) AS c FROM hits GROUP BY 1, URL ORDER BY c DESC, URL LIMIT 10",
    """SELECT ClientIP, ClientIP - 1 AS b, ClientIP - 2 AS d, ClientIP - 3 AS e, count(*) AS c FROM hits
        GROUP BY ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3 ORDER BY c DESC, ClientIP LIMIT 10""",
    f"SELECT URL, count(*) AS v FROM hits WHERE {_VIEWS} AND URL <> '' GROUP BY URL ORDER BY v DESC, URL LIMIT 10",
    f"SELECT Title, count(*) AS v FROM hits WHERE {_VIEWS} AND Title <> '' GROUP BY Title ORDER BY v DESC, Title LIMIT 10",
    f"""SELECT URL, count(*) AS v FROM hits WHERE {_MONTH} AND IsRefresh = 0 AND IsLink <> 0 AND IsDownload = 0
        GROUP BY URL ORDER BY v DESC, URL LIMIT 10 OFFSET 1000""",
    f"""SELECT TraficSourceID, SearchEngineID, AdvEngineID, {_SOURCES} AS src, URL AS dst, count(*) AS v FROM hits
        WHERE {_MONTH} AND IsRefresh = 0 GROUP BY TraficSourceID, SearchEngineID, AdvEngineID, {_SOURCES}, URL
        ORDER BY v DESC, TraficSourceID, SearchEngineID, AdvEngineID, src, dst LIMIT 10 OFFSET 1000""",
    f"""SELECT URLHash, EventDate, count(*) AS v FROM hits WHERE {_MONTH} AND IsRefresh = 0 AND TraficSourceID IN (-1, 6)
        AND RefererHash = 3594120000177 GROUP BY URLHash, EventDate ORDER BY v DESC, URLHash, EventDate LIMIT 10 OFFSET 100""",
    f"""SELECT WindowClientWidth, WindowClientHeight, count(*) AS v FROM hits WHERE {_VIEWS} AND URLHash = 2868770270360
        GROUP BY WindowClientWidth, WindowClientHeight ORDER BY v DESC, WindowClientWidth, WindowClientHeight LIMIT 10 OFFSET 100""",
    f"""SELECT date_trunc('minute', EventTime) AS m, count(*) AS v FROM hits
        WHERE {_MONTH} AND EventDate >= DATE '2013-07-14' AND EventDate <= DATE '2013-07-15' AND DontCountHits = 0 AND IsRefresh = 0
        GROUP BY date_trunc('minute', EventTime) ORDER BY m LIMIT 10 OFFSET 100""",
)
QUERIES = dict(enumerate(_TEXTS, 1))
"""ClickBench's questions in their order, in Spark's dialect."""
IN_DUCKDB = {29: QUERIES[29].replace("$1", r"\1")}

SUITE = Suite(
    "hits", "ClickBench's questions beside Spark and DuckDB.", "rows", 1_000_000, "page views", _files, QUERIES,
    lambda rows: f"ClickBench's questions, {rows:,} generated rows", lambda rows: f"hits-{rows}.md",
    {"spark.sql.session.timeZone": "UTC"}, digits=9, in_duckdb=IN_DUCKDB,
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(run(SUITE))
