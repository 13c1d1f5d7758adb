import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Generic, Literal, TypeAlias, TypeVar, overload

from . import types as types
from ._whyslow import CaptureError as CaptureError
from ._whyslow import RecordBatch as RecordBatch
from ._whyslow import __version__ as __version__

__all__ = [
    "Analysis",
    "CaptureError",
    "Comparison",
    "Prediction",
    "RecordBatch",
    "StreamedTable",
    "Table",
    "__version__",
    "columns",
    "compare",
    "condense",
    "explain",
    "merge",
    "predict",
    "scan",
    "stitch",
    "stitch_shard",
    "table",
    "types",
]

TABLES: tuple[str, ...]

_Path: TypeAlias = str | os.PathLike[str]
_Source: TypeAlias = _Path | bytes | bytearray | memoryview | BinaryIO
_TableName: TypeAlias = Literal[
    "connections", "transfers", "findings", "files", "problems", "rounds", "packets"
]
_Track: TypeAlias = Literal["time-sequence", "in-flight", "rtt", "throughput", "window", "io"]
_Transfer: TypeAlias = _Path | Analysis | tuple[Analysis, str | int]
_Row = TypeVar("_Row")

class Table(Generic[_Row]):
    def __init__(self, analysis: Analysis, name: str) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> _Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Row]: ...
    def __iter__(self) -> Iterator[_Row]: ...
    def batches(self) -> Iterator[RecordBatch]: ...

class StreamedTable:
    def __init__(
        self,
        begin: Callable[[str], object],
        name: str,
        inputs: list[Any],
        spooled: list[Any],
    ) -> None: ...
    def table(self, name: _TableName) -> StreamedTable: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def batches(self) -> Iterator[RecordBatch]: ...

class Analysis:
    def __init__(self, native: object, kept: list[Any], capture_point: str) -> None: ...
    schema: str
    headline: types.Headline | None
    conclusion: types.Conclusion
    captures: list[types.Capture]
    pairs: list[types.Pair]
    pairs_total: int
    partial: bool
    answers: list[types.Answer]
    evidence: Any
    @property
    def connections(self) -> Table[types.Connection]: ...
    @property
    def transfers(self) -> Table[types.Transfer]: ...
    @property
    def findings(self) -> Table[types.Finding]: ...
    @property
    def files(self) -> Table[types.Capture]: ...
    @property
    def problems(self) -> Table[types.Problem]: ...
    @property
    def rounds(self) -> Table[types.Round]: ...
    @property
    def packets(self) -> StreamedTable: ...
    @property
    def verdict(self) -> str: ...
    @property
    def advice(self) -> str | None: ...
    def to_dict(self) -> dict[str, Any]: ...
    def plot(
        self,
        connection: int | None = None,
        track: _Track = "time-sequence",
        size: tuple[int, int] = (1200, 600),
    ) -> str: ...
    def _repr_html_(self) -> str: ...

class Comparison(types.ComparisonDocument):
    def to_dict(self) -> dict[str, Any]: ...

class Prediction(types.PredictionDocument):
    def to_dict(self) -> dict[str, Any]: ...

def explain(
    source: _Source | Sequence[_Source],
    *,
    threads: int | None = None,
    path_rate: float | None = None,
    progress: Callable[[int, int | None], object] | None = None,
    capture_point: str = "",
) -> Analysis: ...
def table(
    source: _Source | Sequence[_Source],
    name: _TableName = "transfers",
    *,
    threads: int | None = None,
    path_rate: float | None = None,
    capture_point: str = "",
) -> StreamedTable: ...
def scan(
    paths: _Path | Iterable[_Path],
    *,
    table: _TableName = "transfers",
    threads: int | None = None,
    path_rate: float | None = None,
    capture_point: str = "",
    errors: Literal["raise", "skip"] | list[Exception] = "raise",
) -> Iterator[RecordBatch]: ...
@overload
def condense(path: _Path, *, shards: None = None) -> Iterator[bytes]: ...
@overload
def condense(path: _Path, *, shards: int) -> Iterator[tuple[int, bytes]]: ...
def stitch_shard(
    rows: Iterable[tuple[str, bytes]],
    *,
    every: bool = False,
    threads: int | None = None,
    path_rate: float | None = None,
) -> Iterator[bytes]: ...
@overload
def merge(
    rows: Iterable[tuple[int, bytes]],
    *,
    table: None = None,
    threads: int | None = None,
    path_rate: float | None = None,
    progress: Callable[[int, int | None], object] | None = None,
    capture_point: str = "",
) -> Analysis: ...
@overload
def merge(
    rows: Iterable[tuple[int, bytes]],
    *,
    table: Literal["connections", "transfers", "findings", "files", "problems", "rounds"],
    threads: int | None = None,
    path_rate: float | None = None,
    progress: Callable[[int, int | None], object] | None = None,
    capture_point: str = "",
) -> StreamedTable: ...
@overload
def stitch(
    rows: Iterable[tuple[str, bytes]],
    *,
    table: None = None,
    threads: int | None = None,
    path_rate: float | None = None,
    progress: Callable[[int, int | None], object] | None = None,
    capture_point: str = "",
) -> Analysis: ...
@overload
def stitch(
    rows: Iterable[tuple[str, bytes]],
    *,
    table: _TableName,
    threads: int | None = None,
    path_rate: float | None = None,
    progress: Callable[[int, int | None], object] | None = None,
    capture_point: str = "",
) -> StreamedTable: ...
def compare(a: _Transfer, b: _Transfer) -> Comparison: ...
def predict(
    bytes: int,
    rtt: float,
    *,
    rate: float = ...,
    queue: int = ...,
    loss: float = ...,
    way: Literal["download", "upload"] = ...,
    tls: Literal["none", "1.2", "1.3"] = ...,
    cc: Literal["reno", "cubic", "bbr"] = ...,
    initcwnd: int = ...,
    ssthresh: int = ...,
    initrwnd: int = ...,
    rwnd: int = ...,
    sndbuf: int = ...,
    mss: int = ...,
    think: float = ...,
    reuse: bool = ...,
    idle: float = ...,
    keep_window: bool = ...,
    count: int = ...,
) -> Prediction: ...
def columns(table: _TableName) -> list[tuple[str, str, str, str]]: ...
