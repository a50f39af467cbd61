"""What Spark and the system say when something goes wrong, in the words of the user: one table for all of it."""

from __future__ import annotations

import errno
import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from penstock.grammar.errors import PenstockError

_MEMORY = "Give it more, spark.driver.memory under  spark:  in penstock.yml, or shorten the windows."
_AGAIN = "Nothing that was done is lost: run it again and it goes on after its last step."
_WITHOUT = (
    "To go on without it, move it away and set\n"
    "spark.sql.files.ignoreMissingFiles: true  under  spark:  in penstock.yml."
)
_STATE = "Put the state folder's copy back, or begin anew with another  state:  in penstock.yml."


@dataclass(frozen=True)
class Known:
    """A failure that is known by what is said about it."""

    sign: re.Pattern[str]
    """What is looked for; its named groups fill in the rest."""
    why: str
    hint: str


def _known(sign: str, why: str, hint: str) -> Known:
    return Known(re.compile(sign, re.S), why, hint)


_FILE = r"(?:file:/*(?=/))?(?P<file>[^\s,;]+?)[.,]?(?=\s|$)"
TABLE = (
    _known(
        "KAFKA_DATA_SOURCE_NOT_ENABLED|Failed to find data source: kafka",
        "Spark has no format 'kafka'",
        "Add  spark.jars.packages: org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}  under  spark:  in penstock.yml.",
    ),
    _known(
        r"Failed to find (?:the )?data source: (?P<format>\S+?)\.|DATA_SOURCE_NOT_FOUND|ClassNotFound",
        "Spark has no format '{format}'",
        "Check how it is spelled, or add its jar under  spark:  in penstock.yml, with  spark.jars.packages.",
    ),
    _known(
        "No suitable driver",
        "there is no JDBC driver for its url",
        "Add the driver's jar under  spark:  in penstock.yml, with  spark.jars  or  spark.jars.packages.",
    ),
    _known(
        r"OutOfMemoryError|UNABLE_TO_ACQUIRE_MEMORY|GC overhead limit",
        "Spark has run out of memory",
        _MEMORY + " " + _AGAIN,
    ),
    _known(r"No space left on device|Disk quota exceeded", "the disk is full", "Make room on it. " + _AGAIN),
    _known(
        r"Answer from Java side is empty|Error while sending or receiving|\[Errno 111\]|Py4JNetworkError"
        r"|Error while obtaining a new communication channel|Cannot call methods on a stopped SparkContext",
        "Spark has ended in the middle of it",
        "It may have been killed for want of memory. " + _AGAIN,
    ),
    _known(
        r"Incomplete log file|MALFORMED_LOG_FILE|Unrecognized token .*Streaming Query"
        r"|JsonParseException.*(?:StreamMetadata|StreamExecution)",
        "the note of how far it was read is damaged, in checkpoints/ of the state folder",
        _STATE,
    ),
    _known(
        r"Wrong basePath|Expected \d+ sources? but|cannot be cast to class \S*Offset",
        "its source is another one than it was read from so far",
        "Put the source back, give the stream another name, or use another  state:  in penstock.yml.",
    ),
    _known(
        "Option 'basePath' must be a directory",
        "'{path}' is a file, and a stream is read from a folder",
        "Put the file into a folder of its own and name that.",
    ),
    _known(
        rf"reading file {_FILE} .*?reading Parquet column \[(?P<column>[^\]]+)\]\. "
        r"Expected Spark type (?P<expected>\S+?), actual Parquet type (?P<actual>\w+)",
        "the column {column} is {actual} in {file}, and {expected} in the files before",
        "Write that file anew with the type of the others. " + _WITHOUT,
    ),
    _known(
        rf"reading file {_FILE}.*?(?:is not a Parquet file|Could not read footer|[Cc]orrupt)",
        "{file} is damaged, or not of its format",
        "Write it anew. " + _WITHOUT,
    ),
    _known(
        rf"FILE_NOT_EXIST\] .*?reading file {_FILE}",
        "{file} has gone before it was read",
        "Put it back. " + _WITHOUT,
    ),
    _known(
        rf"PATH_NOT_FOUND\] Path does not exist: {_FILE}|(?:does not exist|No such file)",
        "there is nothing at '{path}'",
        "Check the path of its source.",
    ),
    _known(
        r"(?P<what>Connection refused|UnknownHostException|Connection timed out|No route to host)",
        "nothing answers at its address ({what})",
        "Check that it runs, and the address in its options.",
    ),
    _known(
        r"(?P<what>Permission denied|Mkdirs failed to create \S+|Read-only file system|AccessDenied\w*)",
        "there is no right to it ({what})",
        "Check who may read and write there.",
    ),
    _known(rf"reading file {_FILE}", "{file} cannot be read", "Check the file, and write it anew. " + _WITHOUT),
)
_SYSTEM = {
    errno.ENOSPC: ("the disk is full", "Make room on it. " + _AGAIN),
    errno.EDQUOT: ("the disk quota is used up", "Make room on it. " + _AGAIN),
    errno.EACCES: ("there is no right to it", "Check who may read and write there."),
    errno.EPERM: ("there is no right to it", "Check who may read and write there."),
    errno.EROFS: ("it is on a disk that is read-only", "Name a folder that can be written to."),
    errno.ENOTDIR: ("something above it is a file, not a folder", "Name another folder."),
    errno.EEXIST: ("there is a file in its place", "Name another folder, or move the file away."),
    errno.EISDIR: ("there is a folder in its place", "Name another one, or move the folder away."),
    errno.ENOENT: ("it is not there", "Check the path."),
    errno.EMFILE: ("too many files are open", "Raise the limit of open files (ulimit -n)."),
}


def reason(error: BaseException, *, format: str = "", path: str | None = None) -> tuple[str, str] | None:
    """Why something failed and what to do about it; None if it is nothing that is known."""
    if comes_from_system(error):
        why, hint = system_reason(error)
        return (why if error.filename is None else f"{error.filename}: {why}"), hint
    text = str(error)
    for known in TABLE:
        found = known.sign.search(text)
        if found is not None:
            words = {"format": format, "path": path, **{k: v for k, v in found.groupdict().items() if v is not None}}
            words.setdefault("file", path or "one of its files")
            words["path"] = path or words["file"]
            return known.why.format_map(words), known.hint.format(spark=_spark_version())
    return None


def cause(error: BaseException) -> str:
    """The line in which an error says what it is about, without the names of classes and the trace."""
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    if lines[0].startswith("An error occurred while calling"):
        deep = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
        lines = [*deep[-1:], *(line.removeprefix(": ") for line in lines[1:])] or lines
    line = re.sub(r"^(?:[\w$]+\.)+([\w$]+): ", "", lines[0])
    line = re.sub(r".*\(\S+ executor driver\): (?:[\w$]+\.)*[\w$]+: ", "", line)
    return re.sub(r"\s*SQLSTATE: \w+\.?$", "", line)[:400]


def system_reason(error: OSError) -> tuple[str, str]:
    """Why the system refused something, and what to do about it."""
    known = _SYSTEM.get(error.errno or 0)
    return known if known is not None else (error.strerror or str(error), "Check the path, and who may write there.")


def comes_from_spark(error: BaseException) -> bool:
    """Whether it was raised by Spark, or on the way to it."""
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j") or (
        isinstance(error, ConnectionError) and not isinstance(error, BrokenPipeError)
    )


def comes_from_system(error: BaseException) -> TypeGuard[OSError]:
    """Whether the system has refused something, for a reason that people can mend."""
    return isinstance(error, OSError) and error.errno in _SYSTEM


def failure(what: str, error: BaseException, *, label: str = "failed") -> PenstockError | None:
    """An error of Spark or of the system in one sentence, `what` being what could not be done; None for a mistake of
    the program."""
    if not comes_from_spark(error) and not comes_from_system(error):
        return None
    why, hint = reason(error) or (cause(error), "--debug keeps Spark's log in a file; its last lines say more.")
    return PenstockError(f"{what}: {why}", hint=hint, label=label)


def keep_details(error: BaseException, folder: Path) -> Path | None:
    """Write all that is known of an error where people can look at it; None if that is not possible."""
    file = folder / "logs" / "failure.log"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError:
        return None
    return file


def _spark_version() -> str:
    from pyspark import __version__

    return str(__version__)
