"""What `.option(…)` says, checked before a task begins."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

import whyslow

SQL_TYPES = {
    "utf8": "string",
    "int64": "bigint",
    "float64": "double",
    "bool": "boolean",
    "timestamp[us, UTC]": "timestamp",
    "list<int64>": "array<bigint>",
}
KNOWN = {
    "path",
    "paths",
    "table",
    "rotation",
    "since",
    "until",
    "server",
    "cause",
    "threads",
    "capture_point",
    "push_filters",
}


@dataclass(frozen=True)
class Options:
    """All of them. It is sent to the tasks."""

    paths: tuple[str, ...]
    table: str = "transfers"
    rotation: str = "name"
    since: datetime | None = None
    until: datetime | None = None
    server: str | None = None
    cause: str | None = None
    threads: int = 1
    capture_point: str = ""
    push_filters: bool = False

    @classmethod
    def parse(cls, given):
        """Checks Spark's options, whose names have no case."""
        given = {name.lower(): value for name, value in dict(given).items()}
        if unknown := sorted(set(given) - KNOWN):
            known = ", ".join(sorted(KNOWN - {"path", "paths"}))
            raise ValueError(f"whyslow: there is no option {unknown[0]!r}: {known}")
        paths = (
            json.loads(given["paths"])
            if "paths" in given
            else [given["path"]]
            if "path" in given
            else []
        )
        if not paths:
            raise ValueError('whyslow: name the captures: .load("captures/*.pcap")')
        options = cls(
            paths=tuple(paths),
            table=_one_of("table", given.get("table", "transfers"), whyslow.TABLES),
            rotation=given.get("rotation", "name"),
            since=_instant("since", given),
            until=_instant("until", given),
            server=given.get("server"),
            cause=given.get("cause"),
            threads=count("threads", given.get("threads", "1")),
            capture_point=given.get("capture_point", ""),
            push_filters=_one_of(
                "push_filters", given.get("push_filters", "false").lower(), ("true", "false")
            )
            == "true",
        )
        options._check()
        return options

    def _check(self):
        if self.rotation not in ("name", "file"):
            try:
                groups = re.compile(self.rotation).groups
            except re.error as error:
                raise ValueError(f"whyslow: rotation {self.rotation!r}: {error}") from None
            if groups != 1:
                raise ValueError(
                    f"whyslow: rotation {self.rotation!r}: `name`, `file`, or a regular expression "
                    "with one group"
                )
        columns = {name for name, *_ in whyslow.columns(self.table)}
        if self.server is not None and "server_address" not in columns:
            raise ValueError(f"whyslow: the table {self.table} has no servers to choose by")
        if self.cause is not None and "cause" not in columns:
            raise ValueError(f"whyslow: the table {self.table} has no causes to choose by")

    def schema(self):
        """The table's schema, as SQL writes it."""
        return ", ".join(
            f"`{name}` {SQL_TYPES[kind]}" for name, kind, *_ in whyslow.columns(self.table)
        )


def _one_of(name, value, known):
    if value not in known:
        raise ValueError(f"whyslow: {name} is one of {', '.join(known)}, and not {value!r}")
    return value


def _instant(name, given):
    if name not in given:
        return None
    try:
        instant = datetime.fromisoformat(given[name])
    except ValueError:
        raise ValueError(
            f"whyslow: {name} is a time like 2026-11-23T14:00:00Z, and not {given[name]!r}"
        ) from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def count(name, value, most=None):
    """A number from 1."""
    if not value.isdecimal() or int(value) == 0 or (most is not None and int(value) > most):
        end = "" if most is None else f" to {most}"
        raise ValueError(f"whyslow: {name} is a number from 1{end}, and not {value!r}")
    return int(value)
