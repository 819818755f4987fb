"""JSON of LLaVA's trainers: [{id, image, conversations: [{from: "human"}, {from: "gpt"}]}], a file per split.

`image` is a path below the folder that the trainer calls `--image_folder`, or a list of paths where there are several
(LLaVA-NeXT; the first LLaVA takes one picture only). Every picture has its `<image>` in the human's turn.
"""

from pathlib import Path

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.export.conversation import IMAGES, conversation, place_images
from spatial_engine.export.exporter import Exported, questions_by_split
from templates.measured import Json
from templates.question import Question

_README = """\
Training rows for LLaVA-NeXT and its kin: `--data_path SPLIT.json --image_folder` this folder.
Prompts are those of Spatial Engine's evaluation, less their call to think first; answers stand in its <answer> tags.
σ, tolerance, evidence and licences do not fit into this form: they stand in the data set, under the same `id`.
"""


def export_llava(dataset: Dataset, folder: Path) -> Exported:
    """Writes `SPLIT.json`, `images/` and a README into `folder`. Holds every question."""
    (folder / IMAGES).mkdir()
    names, count = [], 0
    for split, questions in questions_by_split(dataset).items():
        rows = []
        for question in questions:
            rows.append(row(question))
            place_images(dataset, question, folder)
        write_json(folder / f"{split}.json", rows)
        names.append(f"{split}.json")
        count += len(rows)
    (folder / "README.md").write_text(_README, encoding="utf-8")
    return Exported(rows=count, left_out={}, files=(*names, IMAGES, "README.md"))


def row(question: Question) -> dict[str, Json]:
    """One row."""
    said = conversation(question)
    images = {"image": said.images[0] if len(said.images) == 1 else list(said.images)} if said.images else {}
    turns = [{"from": "human", "value": said.asked}, {"from": "gpt", "value": said.answered}]
    return {"id": question.id, **images, "conversations": turns}
