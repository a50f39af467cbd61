"""Spark's own log: silent, warnings on stderr, or everything into a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_OPTIONS = "spark.driver.extraJavaOptions"


@dataclass(frozen=True)
class SparkLog:
    """How much of Spark's log is shown on stderr, or the file that all of it goes to."""

    level: str = "off"
    file: Path | None = None

    def added_to(self, settings: dict[str, str]) -> dict[str, str]:
        """Settings of a Spark session with what makes it log so, before the Java options that are there."""
        if self.file is None:
            own = [_option("log4j2.configurationFile", _uri("log4j2.properties")), f"-Dpenstock.log.level={self.level}"]
        else:
            own = [
                _option("log4j2.configurationFile", _uri("log4j2-file.properties")),
                _option("penstock.log.file", str(self.file)),
            ]
        return {**settings, _OPTIONS: " ".join([*own, settings.get(_OPTIONS, "")]).strip()}


def _option(name: str, value: str) -> str:
    return f'"-D{name}={value}"' if " " in value else f"-D{name}={value}"


def _uri(name: str) -> str:
    return (_HERE / name).as_uri()
