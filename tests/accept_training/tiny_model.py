"""A vision-language model with random weights, small enough for two training steps on a CPU within seconds.

    python tiny_model.py FOLDER      # in any environment that holds transformers 5

Of the architecture LLaVA, with a tokenizer of bytes: nothing is downloaded.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

PAD, START, STOP, IMAGE = SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>")
_CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_PATCH_PX, _SIDE_PX = 14, 56
_SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def bytes_tokenizer() -> PreTrainedTokenizerFast:
    """One token for each byte."""
    vocabulary = {character: number for number, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=STOP, pad_token=PAD, padding_side="left")


def image_processor() -> CLIPImageProcessorPil:
    """Of small square images; without torchvision, whose packages need a GPU's libraries."""
    side = {"height": _SIDE_PX, "width": _SIDE_PX}
    return CLIPImageProcessorPil(size={"shortest_edge": _SIDE_PX}, crop_size=side)


def write_tiny_model(folder: Path) -> Path:
    """Writes configuration, weights, tokenizer and processor, as a model of the Hub has them."""
    tokenizer = bytes_tokenizer()
    pad, stop, image = tokenizer.convert_tokens_to_ids([PAD, STOP, IMAGE])
    numbers = {"bos_token_id": None, "eos_token_id": stop, "pad_token_id": pad}
    text = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=8192, **_SMALL, **numbers)
    vision = CLIPVisionConfig(image_size=_SIDE_PX, patch_size=_PATCH_PX, projection_dim=32, **_SMALL)
    torch.manual_seed(0)
    model = LlavaForConditionalGeneration(LlavaConfig(vision_config=vision, text_config=text, image_token_index=image))
    model.generation_config.update(**numbers, suppress_tokens=[image])  # random weights would say it, and GRPO fail
    model.save_pretrained(folder)
    LlavaProcessor(
        image_processor=image_processor(),
        tokenizer=tokenizer,
        patch_size=_PATCH_PX,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_CHAT,
    ).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    write_tiny_model(Path(sys.argv[1]))
