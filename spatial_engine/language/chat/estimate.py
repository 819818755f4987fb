"""The cost of requests, estimated before they are sent. Models count the tokens of pictures differently."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.language.chat.request import Request

CHARACTERS_PER_TOKEN = 4.0
"""Characters per token of English text."""
PIXELS_PER_TOKEN = 28 * 28
"""Pixels per token of pictures, as in Qwen2.5-VL (patches of 14 pixels, merged two by two)."""
REPLY_TOKENS = 300
"""Tokens of an unlimited reply: a few sentences of reasoning."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimate for requests that are not sent yet."""

    requests: int
    pictures: int
    input_tokens: int
    output_tokens: int
    """At most max_tokens per reply, if that is set."""


def estimate(requests: Iterable[Request]) -> Estimate:
    """The estimate for some requests."""
    count = pictures = 0
    tokens = replies = 0.0
    for request in requests:
        count += 1
        pictures += len(request.pictures)
        tokens += (
            sum(len(part) for part in (request.system, *request.parts) if isinstance(part, str)) / CHARACTERS_PER_TOKEN
        )
        tokens += sum(picture_tokens(request))
        limit = request.parameters.get("max_tokens")
        replies += REPLY_TOKENS if limit is None else min(REPLY_TOKENS, limit)
    return Estimate(requests=count, pictures=pictures, input_tokens=round(tokens), output_tokens=round(replies))


def picture_tokens(request: Request) -> list[float]:
    """Tokens of each picture, and of the frames of each video; only the headers of the files are read."""
    return [_pixels(file) / PIXELS_PER_TOKEN for file in request.pictures]


def _pixels(file: Path) -> int:
    if file.suffix == ".mp4":
        import av

        with av.open(str(file)) as video:
            stream = video.streams.video[0]
            return int(stream.frames * stream.width * stream.height)
    from PIL import Image

    with Image.open(file) as picture:
        return picture.width * picture.height
