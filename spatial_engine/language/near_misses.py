"""Questions that differ from a question in one thing: what a second reading must tell it from."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_OPPOSITES = (
    ("left", "right"), ("up", "down"), ("above", "below"), ("higher", "lower"), ("highest", "lowest"),
    ("nearer", "farther"), ("closer", "farther"), ("nearest", "farthest"), ("closest", "farthest"), ("near", "far"),
    ("first", "last"), ("before", "after"), ("earliest", "latest"), ("next", "previous"), ("larger", "smaller"),
    ("largest", "smallest"), ("longer", "shorter"), ("longest", "shortest"), ("wider", "narrower"), ("most", "least"),
    ("towards", "away from"), ("in front of", "behind"), ("inside", "outside"), ("forwards", "backwards"),
    ("horizontal", "vertical"), ("faster", "slower"), ("counter-clockwise", "clockwise"), ("wide", "high"),
)  # fmt: skip
_UNITS = (
    ("metres", "centimetres"), ("millimetres", "metres"), ("degrees", "radians"), ("pixels", "percent"),
    ("seconds", "minutes"), ("cm", "mm"), ("m", "cm"), ("s", "min"),
)  # fmt: skip
_FRAMES = (
    r",? (?:as )?(?:seen |viewed )?from (?:where|the (?:camera|viewpoint|position|spot|point of view)) .*?(?=[,.?]|$)",
    r"(?:For|From) the [^,]*, ",
    r" from the camera\b|,? (?:seen )?from (?:straight )?above\b| to the camera\b",
    r" in the (?:scene itself|world|camera's own directions)\b|In the camera's own directions, ",
    r"\b(?:really|actually) | itself\b| in reality\b",
)
_VERB = re.compile(r"\b(?:is|are|was|were|does|do|did|can|could|has|have|will|would)\b", re.IGNORECASE)
_MEASURE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?= ?(?:°|m\b|cm\b|s\b|metres|degrees|seconds|steps))")


def near_misses(prompt: str, values: Sequence[str], most: int = 5) -> list[str]:
    """At most that many, each of another kind if there are as many kinds."""
    kinds = [
        list(_replaced(prompt, _OPPOSITES)),
        list(_exchanged(prompt, values)),
        list(_replaced(prompt, _UNITS)),
        [_MEASURE.sub(lambda hit: f"{2 * float(hit[0]):g}", prompt)],
        [re.sub(frame, "", prompt, count=1) for frame in _FRAMES],
        [_VERB.sub(lambda hit: f"{hit[0]} not", prompt, count=1)],
    ]
    in_turn = (kind[k] for k in range(most) for kind in kinds if k < len(kind))
    return [text for text in dict.fromkeys(in_turn) if text != prompt][:most]


def _replaced(prompt: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    for pair in pairs:
        for word, other in (pair, pair[::-1]):
            pattern = re.compile(rf"(?<![\w-]){word}(?!\w)", re.IGNORECASE)
            if pattern.search(prompt):
                yield pattern.sub(other, prompt)


def _exchanged(prompt: str, values: Sequence[str]) -> Iterator[str]:
    """With two photos, two marks or two names exchanged."""
    named = [value for value in dict.fromkeys(values) if re.search(r"[^\W\d]", value)]
    for words in (re.findall(r"\bphoto \d+", prompt), re.findall(r"\b[B-HJ-Z]\b", prompt), named):
        for one, other in pairwise(dict.fromkeys(words)):
            yield _with_both_exchanged(prompt, one, other)


def _with_both_exchanged(prompt: str, one: str, other: str) -> str:
    either = rf"(?<!\w)(?:{re.escape(one)}|{re.escape(other)})(?!\w)"
    return re.sub(either, lambda hit: other if hit[0] == one else one, prompt)
