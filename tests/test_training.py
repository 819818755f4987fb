"""docs/training.md as far as it needs no trainer, and what docs/recipes.md makes of the same video; `make
accept-training` types in the rest."""

import json
from pathlib import Path

import pytest

from spatial_engine.dataset.dataset import Dataset
from tests.spatial_engine.rendered_store import image_clip, short_demo
from tests.typed_in import Page

PAGE = Page("docs/training.md")
BLOCKS = ["set", "sft", "grpo", "sharegpt", "factory", "llava"]


def test_the_readme_shows_blocks_of_the_page() -> None:
    shown = Page("README.md").blocks
    assert [*PAGE.blocks] == BLOCKS and [*shown] == ["set", "sft"]
    assert all(PAGE.blocks[name] == block for name, block in shown.items())


@pytest.mark.long(sample=True)
def test_from_a_folder_to_an_export_for_each_trainer_and_to_three_recipes(tmp_path: Path) -> None:
    """The recipes' store is the one of the exports: the video is measured once."""
    image_clip(short_demo(frames=16, width_px=320), tmp_path / "VIDEOS" / "room")
    for block in ("set", "sharegpt", "llava"):
        PAGE.type_in(block, tmp_path)
    counts = [
        json.loads((tmp_path / name / "export_report.json").read_text())["rows"] for name in ("TRAINING", "FACTORY")
    ]
    assert counts[0] == counts[1] > 0

    (tmp_path / "STORE").rename(tmp_path / "VIDEO_STORE")
    Page("docs/recipes.md").type_in("from-video", tmp_path)
    assert abilities(tmp_path / "VIDEO_DISTANCE") == {"L1/Geometry/Distance"}
    assert abilities(tmp_path / "VIDEO_CORRESPONDENCE") == {"L1/Relation/Correspondence"}
    assert abilities(tmp_path / "VIDEO_SIZE") <= {"L1/Geometry/Size"}


def abilities(dataset: Path) -> set[str]:
    """Asked about."""
    return {question.ability for question in Dataset.open(dataset).questions}
