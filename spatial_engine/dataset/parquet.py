"""Parquet files that `datasets` reads with their pictures in them, written by pyarrow alone.

`datasets` recognises its column types by the key `huggingface` of a file's schema; a picture is {bytes, path}.
"""

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spatial_engine.errors import SetupError
from templates.columns import Json

if TYPE_CHECKING:
    import pyarrow

Kind = Literal["text", "number", "integer", "texts", "images", "messages"]
"""Of a column. Messages are [{role, content: [{type, text}]}]."""

_ROWS_A_GROUP = 64
_VALUES: Mapping[str, Json] = {
    "text": {"dtype": "string", "_type": "Value"},
    "number": {"dtype": "float64", "_type": "Value"},
    "integer": {"dtype": "int64", "_type": "Value"},
    "texts": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
    "images": {"feature": {"_type": "Image"}, "_type": "Sequence"},
    "messages": [
        {
            "role": {"dtype": "string", "_type": "Value"},
            "content": [{"type": {"dtype": "string", "_type": "Value"}, "text": {"dtype": "string", "_type": "Value"}}],
        }
    ],
}


def write_parquet(path: Path, columns: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]]) -> int:
    """Writes rows, a few at a time, and says how many. Raises `SetupError` without pyarrow."""
    parquet = _pyarrow_parquet()
    schema, count, coming = _schema(columns), 0, iter(rows)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(coming, _ROWS_A_GROUP)):
            writer.write_table(_table(group, schema))
            count += len(group)
    return count


def pictures(folder: Path, media: Iterable[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """Files of `media` as the content of a column of images; videos are none."""
    paths = (folder / medium["path"] for medium in media if medium.get("kind") != "video")
    return [{"bytes": path.read_bytes(), "path": path.name} for path in paths]


def row_bytes(row: Mapping[str, Any]) -> int:
    """About what a row takes in a file: pictures do not shrink, and words are few."""
    texts = sum(len(value) for value in row.values() if isinstance(value, str))
    return texts + sum(len(picture["bytes"]) for picture in row["images"])


def check_pyarrow() -> None:
    """Raises `SetupError` without pyarrow: to be asked before the work, not after."""
    _pyarrow_parquet()


def _table(rows: list[Mapping[str, Any]], schema: "pyarrow.Schema") -> "pyarrow.Table":
    import pyarrow

    return pyarrow.Table.from_pylist(rows, schema=schema)


def _schema(columns: Mapping[str, Kind]) -> "pyarrow.Schema":
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "number": pa.float64(),
        "integer": pa.int64(),
        "texts": pa.list_(pa.string()),
        "images": pa.list_(pa.struct({"bytes": pa.binary(), "path": pa.string()})),
        "messages": pa.list_(
            pa.struct({"role": pa.string(), "content": pa.list_(pa.struct({"type": pa.string(), "text": pa.string()}))})
        ),
    }
    features = {name: _VALUES[kind] for name, kind in columns.items()}
    return pa.schema(
        [(name, types[kind]) for name, kind in columns.items()],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )


def _pyarrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise SetupError("parquet files need pyarrow, which is not installed", "pip install pyarrow") from error
    return pyarrow.parquet
