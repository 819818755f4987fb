"""Runs the loader of a checkout of LLaVA or LLaVA-NeXT: what `LazySupervisedDataset` makes of each row of an export.

    python llava_rows.py CHECKOUT ROWS > ... {"labels": [text], "places": [number], "pixels": [[digest]]}

Models, DeepSpeed and readers of videos are replaced by empty modules: the loader does not use them.
"""

import hashlib
import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from tiny_model import bytes_tokenizer, image_processor
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

_UNUSED = ("llava.model", "llava.train.llava_trainer", "deepspeed", "decord")
_IMAGE_TOKEN = -200
"""LLaVA's number of an image's place."""


def llama_like() -> PreTrainedTokenizerFast:
    """LLaVA's masks count on the first token that LLaMA's tokenizer adds."""
    tokenizer = bytes_tokenizer()
    tokenizer.add_special_tokens({"bos_token": "<s>", "eos_token": "</s>"})
    first = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", tokenizer.bos_token_id)])
    tokenizer.backend_tokenizer.post_processor = first
    tokenizer.model_max_length = 1_000_000
    return tokenizer


def dataset(checkout: Path, rows: Path) -> Any:
    """The dataset of a file of rows, in whose folder the images are."""
    sys.path.insert(0, str(checkout))
    for name in _UNUSED:
        sys.modules[name] = MagicMock(name=name, __spec__=ModuleSpec(name, None), __all__=[])
    from llava import conversation
    from llava.train.train import LazySupervisedDataset

    conversation.default_conversation = conversation.conv_templates["v1"]
    shown = SimpleNamespace(
        is_multimodal=True,
        mm_use_im_start_end=False,
        image_folder=str(rows.parent),
        image_processor=image_processor(),
        image_aspect_ratio="pad",
    )
    return LazySupervisedDataset(data_path=str(rows), tokenizer=llama_like(), data_args=shown)


def read(checkout: Path, rows: Path) -> dict[str, list]:
    loaded = dataset(checkout, rows)
    found: dict[str, list] = {"labels": [], "places": [], "pixels": []}
    for number in range(len(loaded)):
        item = loaded[number]
        found["labels"].append(loaded.tokenizer.decode(item["labels"][item["labels"] >= 0]))
        found["places"].append(int((item["input_ids"] == _IMAGE_TOKEN).sum()))
        images = [image[0] for image in item["image"]] if isinstance(item["image"], list) else [item["image"]]
        digests = [hashlib.sha256(image.numpy().tobytes()).hexdigest() for image in images if image.any()]
        found["pixels"].append(digests)
    return found


if __name__ == "__main__":
    print(json.dumps(read(Path(sys.argv[1]), Path(sys.argv[2]))))
