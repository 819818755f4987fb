"""Runs LLaMA-Factory: what its loader and collator make of each row of an export, and its training on them.

    python llamafactory_rows.py SETTINGS > ... {"labels": [text], "images": [number], "pixels": [digest]}

SETTINGS is the file that `llamafactory-cli train` takes. torchaudio, which LLaMA-Factory imports for sounds, is
replaced by an empty module: the index has none for a CPU's torch.
"""

import hashlib
import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import yaml

sys.modules["torchaudio"] = ModuleType("torchaudio")
sys.modules["torchaudio"].__spec__ = ModuleSpec("torchaudio", None)

from llamafactory.data import (  # noqa: E402
    SFTDataCollatorWith4DAttentionMask,
    get_dataset,
    get_template_and_fix_tokenizer,
)
from llamafactory.hparams import get_train_args  # noqa: E402
from llamafactory.model import load_tokenizer  # noqa: E402
from llamafactory.train.tuner import run_exp  # noqa: E402


def read(settings: dict[str, str]) -> dict[str, list]:
    model_args, data_args, training_args, _, _ = get_train_args(dict(settings))
    loaded = load_tokenizer(model_args)
    tokenizer = loaded["tokenizer"]
    template = get_template_and_fix_tokenizer(tokenizer, data_args)
    rows = get_dataset(template, model_args, data_args, training_args, stage="sft", **loaded)["train_dataset"]
    collate = SFTDataCollatorWith4DAttentionMask(template=template, **loaded)
    found: dict[str, list] = {"labels": [], "images": [], "pixels": []}
    for row in rows:
        batch = collate([dict(row)])
        found["labels"].append(tokenizer.decode([token for token in row["labels"] if token >= 0]))
        found["images"].append(len(batch["pixel_values"]) if row["images"] else 0)
        if row["images"]:
            found["pixels"].append(hashlib.sha256(batch["pixel_values"].numpy().tobytes()).hexdigest())
    return found


if __name__ == "__main__":
    settings = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = read(settings)
    run_exp(dict(settings))
    print(json.dumps(found))
