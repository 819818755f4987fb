"""L2/Understanding/Spatial Caption: a caption in free words, whose statements are known one by one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.answers.text import Text
from templates.columns import Json
from templates.facts import Facts
from templates.mapping.captions import AboutCaptions, Captions, caption, names_of, photo_of, sentences
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName, Phrasing


@dataclass(frozen=True, kw_only=True)
class LongCaptions(Captions):
    """The same with four statements."""

    claims: Int64[np.ndarray, "n 4 3"]


@dataclass(frozen=True, kw_only=True)
class SceneCaption(AboutCaptions):
    """How three points or objects of a photo lie, in free words. Four statements are checked: no three of one kind, so
    that none follows from the others."""

    name: str = "scene_caption"
    formats: tuple[FormatName, ...] = ("text",)
    facts: ClassVar[type[Captions]] = LongCaptions
    statements: ClassVar[int] = 4

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The statements as one caption, and one by one."""
        label = measured.as_label()
        rows = zip(facts.to_json(), np.atleast_1d(label.text).tolist(), strict=True)
        told = [(names_of(fact), fact["claims"], words.split(", ")) for fact, words in rows]
        return Text(
            text=np.array([caption(*each) for each in told], dtype=np.str_),
            claims=np.array(["\n".join(sentences(*each)) for each in told], dtype=np.str_),
            margin=label.margin,
            outlier_probability=label.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo."""
        photo = photo_of(fact)
        if photo.marks:
            return Phrasing(media=(photo,), wording="text.points")
        names = {letter: fact[name] for letter, name in zip("abc", ("first", "second", "third"), strict=True)}
        return Phrasing(media=(photo,), wording="text.objects", values=names)
