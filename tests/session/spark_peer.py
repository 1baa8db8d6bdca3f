"""Says steps to a real Spark with Java Paimon, and writes down what it answers. Runs by itself, in a Python that has PySpark 4.0.

`python tests/session/spark_peer.py JARS WAREHOUSES STEPS.json ANSWERS.json`; JARS, with commas: paimon-spark-4.0 1.3.1,
or what its sources of that release compile to beside paimon-bundle 1.3.1.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON has it: decimals and times as text, rows as lists, maps as sorted pairs, bytes in hex."""
    if isinstance(value, Decimal | dt.date):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return sorted([plain(k), plain(v)] for k, v in value.items())
    return value


def reason(error: Exception) -> str:
    """The first line that says something."""
    lines = [line.strip(": ") for line in str(error).strip().split("\n")]
    return next((line for line in lines if not line.startswith("An error occurred while calling")), "")[:160]


class Peer:
    """One Spark session for all steps."""

    def __init__(self, jars: str, place: str) -> None:
        from pyspark.sql import SparkSession

        settings = {
            "spark.jars": jars,
            "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
            "spark.ui.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": f"{place}/hive",
        }
        builder = SparkSession.builder.master("local[2]")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")

    def catalog(self, name: str, warehouse: str) -> None:
        """Another warehouse under a name, which Spark would not look at once it knows the name."""
        for key in [k for k in self.spark.conf.getAll if k.startswith(f"spark.sql.catalog.{name}")]:
            self.spark.conf.unset(key)
        self.spark.conf.set(f"spark.sql.catalog.{name}", "org.apache.paimon.spark.SparkCatalog")
        self.spark.conf.set(f"spark.sql.catalog.{name}.warehouse", warehouse)
        self.spark._jsparkSession.sessionState().catalogManager().reset()
        self.spark.sql(f"USE {name}")

    def say(self, step: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"took": True, "rows": self.rows(step)}
        except Exception as error:
            answer = {"took": False, "error": reason(error)}
        if step.get("instead"):
            try:
                self.spark.sql(step["instead"]).collect()
                answer["instead"] = True
            except Exception as error:
                answer["instead"] = reason(error)
        return answer

    def rows(self, step: dict[str, Any]) -> list[Any]:
        if "python" not in step:
            return sorted((plain(tuple(r)) for r in self.spark.sql(step["text"]).collect()), key=repr)
        from pyspark.sql import DataFrame, SparkSession

        scope: dict[str, Any] = {"spark": self.spark, "SparkSession": SparkSession}
        exec(step["python"], scope)
        made = {k: v for k, v in scope.items() if isinstance(v, DataFrame)}
        if step.get("whole"):
            return [
                [k, sorted((plain(tuple(r)) for r in v.collect()), key=repr)]
                for k, v in made.items()
                if k in ("out", "then")
            ]
        return [[k, v.count()] for k, v in made.items()]


if __name__ == "__main__":
    jars, place, asked, answered = sys.argv[1:]
    peer, answers = Peer(jars, place), {}
    for step in json.loads(Path(asked).read_text()):
        if "catalog" in step:
            peer.catalog(step["catalog"], step["warehouse"])
        else:
            answer = peer.say(step)
            if step["key"]:
                answers[step["key"]] = answer
            elif not answer["took"] and answer.get("instead") is not True:
                print("not prepared:", step["text"][:100], "|", answer["error"][:120])
    Path(answered).write_text(json.dumps(answers, indent=1) + "\n")
