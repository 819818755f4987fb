"""The card of an export: that of the dataset, with its own files, how to load them, and the pictures of examples."""

from collections.abc import Iterable
from pathlib import Path

from spatial_engine.dataset.card import Form, card
from spatial_engine.dataset.cost import read_cost
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.examples import files_of
from spatial_engine.output_folder import place_file

EXAMPLES = "examples"


def write_export_card(
    dataset: Dataset, folder: Path, *, splits: Iterable[str], ending: str, loading: str
) -> tuple[str, ...]:
    """Writes the card for `data/SPLIT-*.ENDING`. Returns the names of what it wrote."""
    audit = dataset.audit
    files = "".join(f'\n      - split: {split}\n        path: "data/{split}-*.{ending}"' for split in splits)
    form = Form(data_files=files or " []", loading=loading, pictures=EXAMPLES)
    (folder / "README.md").write_bytes(
        card(audit, dataset.path.name, read_cost(dataset.path), form).encode("utf-8", "replace")
    )
    pictures = files_of(audit.get("examples", {}))
    if not pictures:
        return ("README.md",)
    (folder / EXAMPLES).mkdir()
    for path in pictures:
        place_file(dataset.path / path, folder / EXAMPLES / Path(path).name)
    return ("README.md", EXAMPLES)
