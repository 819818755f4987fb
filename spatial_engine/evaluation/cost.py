"""The cost of a run, counted from its replies."""

from collections.abc import Mapping, Sequence

import numpy as np

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
