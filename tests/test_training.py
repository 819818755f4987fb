"""docs/training.md as far as it needs no trainer; `make accept-training` types in the rest."""

import json
from pathlib import Path

import pytest

from tests.spatial_engine.rendered_store import image_clip, short_demo
from tests.typed_in import Page

PAGE = Page("docs/training.md")
BLOCKS = ["set", "sft", "grpo", "sharegpt", "factory", "llava"]


def test_the_readme_shows_blocks_of_the_page() -> None:
    shown = Page("README.md").blocks
    assert [*PAGE.blocks] == BLOCKS and [*shown] == ["set", "sft"]
    assert all(PAGE.blocks[name] == block for name, block in shown.items())


@pytest.mark.long(sample=True)
def test_from_a_folder_to_an_export_for_each_trainer(tmp_path: Path) -> None:
    image_clip(short_demo(frames=16, width_px=320), tmp_path / "VIDEOS" / "room")
    for block in ("set", "sharegpt", "llava"):
        PAGE.type_in(block, tmp_path)
    counts = [
        json.loads((tmp_path / name / "export_report.json").read_text())["rows"] for name in ("TRAINING", "FACTORY")
    ]
    assert counts[0] == counts[1] > 0
