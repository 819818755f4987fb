"""ShareGPT rows for LLaMA-Factory: {messages: [{role, content}], images: [...]}, and its `dataset_info.json`.

LLaMA-Factory refuses rows whose `<image>` tokens do not equal their files in number. It takes relative paths from its
`media_dir`, by default the folder of `dataset_info.json`.
"""

from pathlib import Path

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.export.conversation import IMAGES, conversation, place_images
from spatial_engine.export.exporter import Exported, questions_by_split, slug
from templates.measured import Json
from templates.question import Question

INFO = "dataset_info.json"
_README = """\
Training rows for LLaMA-Factory: `dataset_dir:` this folder, `dataset:` one of {names}.
Prompts are those of Spatial Engine's evaluation, less their call to think first; answers stand in its <answer> tags.
σ, tolerance, evidence and licences do not fit into this form: they stand in the data set, under the same `id`.
"""


def export_sharegpt(dataset: Dataset, folder: Path) -> Exported:
    """Writes `SPLIT.json`, `dataset_info.json`, `images/` and a README into `folder`. Holds every question."""
    (folder / IMAGES).mkdir()
    entries, count = {}, 0
    for split, questions in questions_by_split(dataset).items():
        rows = []
        for question in questions:
            rows.append(row(question))
            place_images(dataset, question, folder)
        write_json(folder / f"{split}.json", rows)
        entries[f"{slug(dataset.path)}_{split}"] = _entry(f"{split}.json")
        count += len(rows)
    write_json(folder / INFO, entries)
    names = ", ".join(f"`{name}`" for name in entries) or "none"
    (folder / "README.md").write_text(_README.format(names=names), encoding="utf-8")
    files = [entry["file_name"] for entry in entries.values()]
    return Exported(rows=count, left_out={}, files=(*files, INFO, IMAGES, "README.md"))


def row(question: Question) -> dict[str, Json]:
    """One row."""
    said = conversation(question)
    messages = [{"role": "user", "content": said.asked}, {"role": "assistant", "content": said.answered}]
    return {"id": question.id, "messages": messages, "images": list(said.images)}


def _entry(file: str) -> dict[str, Json]:
    return {
        "file_name": file,
        "formatting": "sharegpt",
        "columns": {"messages": "messages", "images": "images"},
        "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"},
    }
