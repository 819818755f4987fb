"""Runs in an environment of its own (pandas): `evaluate` of VLMEvalKit's datasets on tables of replies.

python their_scores.py CHECKOUT < {"NAME": {"module", "class", "rounds": [[row, ...], ...]}} > {"NAME": [{...}, ...]}
"""

import contextlib
import importlib
import json
import sys
import tempfile
import types
import warnings
from pathlib import Path
from unittest.mock import MagicMock

import pandas as pd


def prepare(checkout: Path) -> None:
    """Makes the modules of the datasets importable without the models, the downloads and the other datasets."""
    for package in ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.utils"):
        module = types.ModuleType(package)
        module.__path__ = [str(checkout / package.replace(".", "/"))]
        sys.modules[package] = module
    unused = ["decord", "huggingface_hub", "tqdm", "PIL", "vlmeval.utils", "vlmeval.utils.mp_util", "vlmeval.smp.log"]
    unused += ["vlmeval.smp", "vlmeval.smp.file", "vlmeval.smp.vlm", "vlmeval.dataset.utils.judge_util"]
    for name in unused:
        sys.modules[name] = MagicMock(name=name)
    for name, base in (("image_mcq", "ImageMCQDataset"), ("video_base", "VideoBaseDataset")):
        module = types.ModuleType(f"vlmeval.dataset.{name}")
        setattr(module, base, type(base, (), {}))
        sys.modules[f"vlmeval.dataset.{name}"] = module
    files = sys.modules["vlmeval.smp.file"]
    files.get_intermediate_file_path = lambda file, suffix="", target_format="csv": f"{file}{suffix}.{target_format}"
    files.load = sys.modules["vlmeval.smp"].load = lambda file: pd.DataFrame(json.loads(Path(file).read_text()))


def scores(module: str, name: str, rounds: list) -> list:
    """The summary of each round."""
    cls = getattr(importlib.import_module(f"vlmeval.dataset.{module}"), name)
    found = []
    for rows in rounds:
        dataset = object.__new__(cls)
        dataset.dataset_name = name
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "replies.json"
            file.write_text(json.dumps(rows))
            with contextlib.redirect_stdout(sys.stderr):
                summary = dataset.evaluate(str(file))
        found.append({key: value for key, value in summary.items() if isinstance(value, float)})
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # it warns that tables of Excel cannot be written
    prepare(Path(sys.argv[1]).resolve())
    asked = json.load(sys.stdin)
    json.dump({name: scores(one["module"], one["class"], one["rounds"]) for name, one in asked.items()}, sys.stdout)
