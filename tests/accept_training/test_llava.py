"""The loaders of LLaVA 1.5 and LLaVA-NeXT, which are checkouts (README.md), on our exports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("form", "variable"), [("llava-1.5", "LLAVA"), ("llava", "LLAVA_NEXT")])
def test_its_loader_reads_every_row(exports: Path, form: str, variable: str) -> None:
    checkout = os.environ.get(f"SPATIAL_ENGINE_{variable}")
    if not checkout:
        pytest.skip(f"no checkout is named: make accept-training {variable}=DIR (tests/accept_training/README.md)")
    rows = exports / form / "train.json"
    script = Path(__file__).with_name("llava_rows.py")
    done = subprocess.run([sys.executable, str(script), checkout, str(rows)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    written = json.loads(rows.read_text(encoding="utf-8"))
    images = [[row["image"]] if isinstance(row["image"], str) else row["image"] for row in written]
    answers = [row["conversations"][-1]["value"] for row in written]
    assert [labels.removesuffix("</s>").strip() for labels in found["labels"]] == answers
    assert found["places"] == [len(each) for each in images] == [len(each) for each in found["pixels"]]
    assert len({digest for each in found["pixels"] for digest in each}) == len(
        {path for each in images for path in each}
    )
    print(f"\n{variable}: {len(written)} rows, {sum(map(len, images))} images, loss on the answers alone")
