"""L2/Understanding/Spatial Caption: which of four captions describes a photo, and which words are left out of one."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.mapping.captions import AboutCaptions, caption, names_of, opposites, photo_of, phrase_of
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName, Phrasing

_TWO_FALSE = np.array([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)], dtype=bool)
"""Statements that are false in each of four captions. Two captions differ in two statements, and each statement is made
by two captions and denied by two: if a single one were false in each wrong caption, the right one would be the one that
shares most with the others."""


@dataclass(frozen=True, kw_only=True)
class TrueCaption(AboutCaptions):
    """The caption whose statements are all true; in each of the others two of three are false."""

    name: str = "true_caption"
    formats: tuple[FormatName, ...] = ("choice",)

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The true words."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer:
        """Four captions, by their words."""
        return offered(answers, np.tile(_TWO_FALSE, (len(answers), 1, 1)))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo and four texts."""
        assert offer is not None
        said = [caption(names_of(fact), fact["claims"], words.split(", ")) for words in offer.values(0)]
        return Phrasing(media=(photo_of(fact),), options=tuple(said))


@dataclass(frozen=True, kw_only=True)
class CaptionGap(AboutCaptions):
    """The two words that are left out of a true caption, out of all four pairs of words."""

    name: str = "caption_gap"
    formats: tuple[FormatName, ...] = ("choice",)

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The true words, of all three statements."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer:
        """Words of all three statements; those of one are the same in all options."""
        gaps = np.sort(chance.order("gaps", self.statements)[:, :2], axis=1)
        false = np.zeros((len(answers), 4, self.statements), dtype=bool)
        row = np.arange(len(answers))
        false[row, 1, gaps[:, 0]] = false[row, 3, gaps[:, 0]] = True
        false[row, 2, gaps[:, 1]] = false[row, 3, gaps[:, 1]] = True
        return offered(answers, false)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo, a caption with gaps, and pairs of words."""
        assert offer is not None
        options = [words.split(", ") for words in offer.values(0)]
        gaps = [k for k, words in enumerate(zip(*options, strict=True)) if len({*words}) > 1]
        written = caption(names_of(fact), fact["claims"], options[0], gaps)
        pairs = (" – ".join(phrase_of(words[k]) for k in gaps) for words in options)
        return Phrasing(media=(photo_of(fact),), values={"caption": written}, options=tuple(pairs))


def offered(answers: Answers, false: Bool[np.ndarray, "n o c"]) -> Offer:
    """The true words of each caption, and options in which those of some statements are exchanged. The first option is
    the right one."""
    rows = []
    for label, exchanged in zip(answers.labels().tolist(), false, strict=True):
        words = label.split(", ") if label else [""] * false.shape[2]
        other = opposites(words) if label else words
        rows.append([", ".join(np.where(swap, other, words).tolist()) for swap in exchanged])
    options = np.array(rows, dtype=np.str_).reshape(false.shape[:2])
    return Offer.first_right(options)
