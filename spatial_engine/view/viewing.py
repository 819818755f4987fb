"""Writes the recording of a clip, and opens the viewer where there is a screen."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spatial_engine.atomic_file import atomic_file
from spatial_engine.errors import SetupError, StoreError, UsageError
from spatial_engine.options import StrPath, ViewOptions, chosen
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import Store, open_store

_LISTED = 20


def view(
    store: StrPath | Store,
    clip: str | None = None,
    options: ViewOptions | None = None,
    *,
    out: StrPath | None = None,
    open: bool | None = None,
    **fields: Any,
) -> Path:
    """Writes what the signals of a clip say in 3-D as a recording (.rrd), and returns its path.

    Args:
        store: a store or its folder.
        clip: the id of the clip, the start of the id, or the clip's name; may be left out if the store holds one clip.
        options: how much the recording holds; None: the defaults.
        out: the file to write; None: CLIP_ID.rrd in the current folder.
        open: whether the viewer opens; None: where there is a screen. Without a screen it never opens.
        fields: single fields of `ViewOptions`, as in `view("store/", every=10)`.

    Raises:
        UsageError: no clip is meant, or several; `out` does not end in .rrd, or is a folder.
        SetupError: rerun-sdk is not installed.
        StoreError: `store` is none, or holds no clip.
    """
    options = chosen(ViewOptions, options, fields)
    if find_spec("rerun") is None:
        raise SetupError("view needs rerun-sdk, which is not installed", "pip install -e '.[view]'")
    store = store if isinstance(store, Store) else open_store(store)
    clip_id = _chosen_clip(store, clip)
    file = Path(f"{clip_id}.rrd" if out is None else out)
    if file.suffix != ".rrd" or file.is_dir():
        raise UsageError(f"{file} is no name for a recording", f"name a file that ends in .rrd: -o {clip_id}.rrd")
    from spatial_engine.view.recording import record  # needs rerun

    with atomic_file(file) as temporary:
        record(clip_from_json(store.record(clip_id).clip), store.signals(clip_id), options, temporary)
    if has_screen() and open is not False:
        _open(file)
    return file


def has_screen() -> bool:
    """Whether a window can open here."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _open(file: Path) -> None:
    """Starts the viewer, which stays when this program ends."""
    command = [sys.executable, "-m", "rerun", str(file)]
    subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def _chosen_clip(store: Store, wanted: str | None) -> str:
    """The id of the clip that is meant: by its id, the start of its id, or its name."""
    names = {clip_id: str(record.clip["name"]) for clip_id, record in store.readable_records().items()}
    if not names:
        raise StoreError(
            f"{store.path} holds no clip", f"annotate footage first: spatial-engine annotate VIDEOS -o {store.path}"
        )
    if wanted in names:
        return str(wanted)
    meant = [id for id, name in names.items() if not wanted or id.startswith(wanted) or name == wanted]
    if len(meant) == 1:
        return meant[0]
    listed = [f"{id} ({names[id]})" for id in (meant or names)][:_LISTED]
    more = ", ..." if len(meant or names) > _LISTED else ""
    cause = f"{len(meant)} clips of {store.path} could be meant" if meant else f"no clip {wanted} in {store.path}"
    raise UsageError(cause, f"name one by its id: {', '.join(listed)}{more}")
