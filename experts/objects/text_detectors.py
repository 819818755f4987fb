"""Detectors of transformers that take names as text: Grounding DINO and OWLv2 (code and weights Apache-2.0).

Pictures are resized and normalised as by upstream's processors (which need torchvision); names are tokenised by the
checkpoint's own tokenizer. Outputs are boxes as shares of the picture and a score per name, on the host.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from experts.clip import Picture
from experts.expert import SetupProblem
from experts.objects.detections import label_scores
from experts.runtime.device import Placement
from experts.runtime.transfer import sent

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Mean and σ of the channels, for pictures in 0 to 1."""
CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
Output = tuple[Float32[np.ndarray, "_ 4"], Float32[np.ndarray, "_ l"]]
"""Boxes (centre x, centre y, width, height; shares) and the score of each name."""


@runtime_checkable
class TextDetector(Protocol):
    """Detects named objects."""

    padded_to_square: bool
    """Whether boxes are shares of the square to which the picture was padded at the right and at the bottom."""

    def __call__(self, pictures: Sequence[Picture]) -> list[Output]:
        """Detections in pictures of one size."""
        ...


def loaded(
    upstream: Any, config: Any, folder: Path | None, placement: Placement, aliases: Mapping[str, str] | None = None
) -> Any:
    """A model of transformers from a local checkpoint, or with random weights; never from the network or a pickle.

    Upstream initialises missing weights at random, with a warning; here they are an error. `aliases`: parameters that
    equal others, of which a checkpoint has only one.
    """
    if folder is None:
        return upstream(config).eval().to(placement.device)
    remedy = f"spatial-engine weights fetch {folder.name}"
    try:
        model, report = upstream.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except Exception as error:  # OSError, SafetensorError, RuntimeError, ...: whatever a bad file leads to
        raise SetupProblem(f"{folder.name} cannot be read: {str(error).splitlines()[0]}", remedy) from error
    missing = set(report["missing_keys"])
    for one, other in (aliases or {}).items():
        if one in missing and other not in missing:
            model.get_buffer(one).copy_(model.get_buffer(other))
            missing.remove(one)
    if missing or report["mismatched_keys"]:
        named = sorted({*missing, *(str(key) for key, *_ in report["mismatched_keys"])})
        raise SetupProblem(f"{folder.name} lacks {len(named)} weights, {named[0]} first", remedy)
    return model.eval().to(placement.device)


def pixels(pictures: Sequence[Picture], placement: Placement) -> Any:
    """(b, 3, h, w) on the device, 0 to 1."""
    stacked = sent(np.stack(pictures), placement.device).on_device()
    return stacked.permute(0, 3, 1, 2).float() / 255


def resized(values: Any, height: int, width: int) -> Any:
    """Bilinear resampling, with averaging where it shrinks; pixel centres map by (x + 0.5) · s - 0.5."""
    import torch

    return torch.nn.functional.interpolate(
        values, (height, width), mode="bilinear", antialias=True, align_corners=False
    )


def normalised(values: Any, mean_and_sigma: tuple[tuple[float, ...], tuple[float, ...]]) -> Any:
    """Channels normalised as in training."""
    mean, sigma = (values.new_tensor(part).view(1, 3, 1, 1) for part in mean_and_sigma)
    return (values - mean) / sigma


def running(placement: Placement) -> Any:
    """Context without gradients, with matrix products in the placement's precision."""
    import contextlib

    import torch

    stack = contextlib.ExitStack()
    stack.enter_context(torch.inference_mode())
    kind, reduced = placement.device.partition(":")[0], placement.dtype != "float32"
    stack.enter_context(torch.autocast(kind, dtype=placement.torch_dtype if reduced else None, enabled=reduced))
    return stack


class GroundingDino:
    """Grounding DINO (Liu et al., ECCV 2024): all names in one text, "chair. table.", or in several."""

    padded_to_square = False

    def __init__(
        self, folder: Path | None, names: Sequence[str], sides_px: tuple[int, int], placement: Placement, config: Any
    ) -> None:
        """`sides_px`: the shorter side that pictures are brought to, and what the longer one must not exceed."""
        from transformers import GroundingDinoForObjectDetection

        self.model = loaded(GroundingDinoForObjectDetection, config, folder, placement)
        self.sides_px, self.placement = sides_px, placement
        tokenizer = bert_words(names) if folder is None else _tokenizer(folder)
        self.texts = texts_of(names, tokenizer, self.model.config.max_text_len)

    def __call__(self, pictures: Sequence[Picture]) -> list[Output]:
        """See `TextDetector`."""
        height, width = fitting(pictures[0].shape[0], pictures[0].shape[1], *self.sides_px)
        values = normalised(resized(pixels(pictures, self.placement), height, width), IMAGENET)
        answers = [self._answers(values, *text) for text in self.texts]
        names = sum(len(spans) for _, spans in self.texts)
        merged = []
        for parts in zip(*answers, strict=True):
            scores = np.zeros((sum(len(boxes) for boxes, _ in parts), names), dtype=np.float32)
            row = column = 0
            for _, part in parts:
                scores[row : row + part.shape[0], column : column + part.shape[1]] = part
                row, column = row + part.shape[0], column + part.shape[1]
            merged.append((np.concatenate([boxes for boxes, _ in parts]), scores))
        return merged

    def _answers(self, values: Any, ids: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[Output]:
        import torch

        tokens = torch.tensor([ids] * len(values), device=values.device)
        with running(self.placement):
            found = self.model(pixel_values=values, input_ids=tokens, token_type_ids=torch.zeros_like(tokens))
        logits, boxes = found.logits.float().cpu().numpy(), found.pred_boxes.float().cpu().numpy()
        return [(box, label_scores(one, spans)) for box, one in zip(boxes, logits, strict=True)]


def texts_of(names: Sequence[str], tokenizer: Any, most_tokens: int) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Token ids of "[CLS] name . name . [SEP]" and, for each name, its tokens (first, after last); a new text where the
    next name would not fit."""
    stop = tokenizer.convert_tokens_to_ids(".")
    texts: list[tuple[list[int], list[tuple[int, int]]]] = []
    for name in names:
        own = tokenizer(name.lower(), add_special_tokens=False)["input_ids"]
        if not texts or len(texts[-1][0]) + len(own) + 2 > most_tokens:
            texts.append(([tokenizer.cls_token_id], []))
        ids, spans = texts[-1]
        spans.append((len(ids), len(ids) + len(own)))
        ids += [*own, stop]
    return [([*ids, tokenizer.sep_token_id], spans) for ids, spans in texts]


def fitting(height: int, width: int, short_px: int, long_px: int) -> tuple[int, int]:
    """(height, width) with the shorter side at `short_px`, unless the longer one would exceed `long_px`: upstream's
    `get_size_with_aspect_ratio`, to the pixel."""
    least, most = min(height, width), max(height, width)
    wanted = min(float(short_px), long_px * least / most)
    short, long = max(1, round(wanted)), max(1, int(wanted * most / least))
    return (short, long) if height <= width else (long, short)


class Owlv2:
    """OWLv2 (Minderer et al., NeurIPS 2023): each name in a text of its own."""

    padded_to_square = True

    def __init__(self, folder: Path | None, names: Sequence[str], placement: Placement, config: Any) -> None:
        from transformers import Owlv2ForObjectDetection

        self.model = loaded(Owlv2ForObjectDetection, config, folder, placement)
        self.placement = placement
        text = self.model.config.text_config
        tokenizer = clip_words(names, text) if folder is None else _tokenizer(folder)
        # The wording of upstream's examples; longer names are cut at the 16 tokens that the network takes.
        self.tokens = tokenizer(
            [f"a photo of a {name.lower()}" for name in names],
            padding="max_length", truncation=True, max_length=text.max_position_embeddings, return_tensors="pt",
        )  # fmt: skip

    def __call__(self, pictures: Sequence[Picture]) -> list[Output]:
        """See `TextDetector`."""
        import torch

        values = pixels(pictures, self.placement)
        height, width = values.shape[2:]
        side = max(height, width)
        values = torch.nn.functional.pad(values, (0, side - width, 0, side - height))
        wanted = self.model.config.vision_config.image_size
        values = normalised(resized(values, wanted, wanted), CLIP)
        tokens = {
            key: self.tokens[key].repeat(len(values), 1).to(values.device) for key in ("input_ids", "attention_mask")
        }
        with running(self.placement):
            found = self.model(pixel_values=values, **tokens)
        scores, boxes = torch.sigmoid(found.logits.float()).cpu().numpy(), found.pred_boxes.float().cpu().numpy()
        return list(zip(boxes, scores, strict=True))


def _tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


_BERT = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, ".": 1012, "?": 1029}
"""Rows that Grounding DINO's code knows by number."""


def bert_words(names: Sequence[str]) -> Any:
    """Stands in for BERT's tokenizer where weights are random: one token a word."""
    return _word_tokenizer(_BERT | _numbered(names, 2000), "[UNK]", cls_token="[CLS]", sep_token="[SEP]")


def clip_words(names: Sequence[str], text_config: Any) -> Any:
    """Stands in for CLIP's tokenizer where weights are random: one token a word, between start and end."""
    from tokenizers.processors import TemplateProcessing

    first, last = text_config.bos_token_id, text_config.eos_token_id
    vocabulary = {"!": 0, "<|startoftext|>": first, "<|endoftext|>": last, "[UNK]": 1}
    words = _word_tokenizer(vocabulary | _numbered([*names, "a photo of"], 2), "[UNK]")
    words.pad_token = "!"
    words.backend_tokenizer.post_processor = TemplateProcessing(
        single="<|startoftext|> $A <|endoftext|>", special_tokens=[("<|startoftext|>", first), ("<|endoftext|>", last)]
    )
    return words


def _numbered(names: Sequence[str], first: int) -> dict[str, int]:
    words = sorted(set(chain.from_iterable(name.lower().split() for name in names)))
    return {word: first + k for k, word in enumerate(words)}


def _word_tokenizer(vocabulary: dict[str, int], unknown: str, **special: str) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(WordLevel(vocabulary, unk_token=unknown))
    words.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, unk_token=unknown, **special)
