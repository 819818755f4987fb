"""The cost of a run: estimated before, counted after. Models count the tokens of pictures differently."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spatial_engine.evaluation.request import Request
from spatial_engine.evaluation.scored import ScoredItem
from templates.columns import Json


def usage(items: Sequence[ScoredItem], run: Mapping[str, Json]) -> dict[str, Json]:
    """Tokens and seconds of those replies that state them; what they cost where `run["prices"]` says, per million
    tokens: {"input": ..., "output": ...}, and perhaps "currency"."""
    tokens = {
        "input_tokens": _spread([item.input_tokens for item in items]),
        "output_tokens": _spread([item.output_tokens for item in items]),
    }
    return {**tokens, "seconds": _spread([item.seconds for item in items]), "cost": _cost(tokens, run.get("prices"))}


def _spread(values: Sequence[float | None]) -> dict[str, Json] | None:
    """Sum, mean, median and 95th percentile of the known values; None without any."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return None
    return {
        "known": len(known),
        "sum": float(known.sum()),
        "mean": float(known.mean()),
        "median": float(np.median(known)),
        "p95": float(np.quantile(known, 0.95)),
    }


def _cost(tokens: Mapping[str, Mapping[str, Json] | None], prices: Json) -> dict[str, Json] | None:
    if not isinstance(prices, Mapping):
        return None
    try:
        amount = sum(
            float(prices[kind]) * found["sum"] / 1e6
            for kind in ("input", "output")
            if (found := tokens[f"{kind}_tokens"]) is not None
        )
    except (KeyError, TypeError, ValueError):
        return None
    return {"amount": amount, "currency": str(prices.get("currency", ""))}


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
