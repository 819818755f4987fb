"""The options of `rephrase`."""

from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.evaluation import Prices, SamplingOptions, at_least_one

LANGUAGES = ("de", "en", "zh")
"""Those in which numbers, marks and units can be checked by rule."""


@dataclass(frozen=True, kw_only=True)
class RephraseOptions(SamplingOptions):
    """Who rewords the prompts, and into what. Raises `UsageError`."""

    model: Annotated[
        str | None,
        Doc("Name of the model, as the server knows it. Without one, prompts take other wordings of their template."),
    ] = None
    reader: Annotated[str | None, Doc("Model of the second reading; by default the same.")] = None
    language: Annotated[
        tuple[str, ...], Doc("Languages of the prompts, shared out evenly: " + ", ".join(LANGUAGES) + ".")
    ] = ("en",)
    wordings: Annotated[
        int, Doc("Most rewordings of one prompt in a language; questions with that prompt share them.")
    ] = 8
    limit: Annotated[int | None, Doc("Rephrase only this many questions, drawn at random.")] = None
    seed: Annotated[int, Doc("Seed of languages, wordings and the draw of --limit.")] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.language if name not in LANGUAGES]
        if unknown or not self.language:
            raise UsageError(f"--language {','.join(self.language)}", f"allowed: {', '.join(LANGUAGES)}")
        if self.model is None and (self.reader is not None or self.language != ("en",)):
            raise UsageError("no model is named", "name one: --model NAME; without it prompts stay English")
        at_least_one("wordings", self.wordings)
        at_least_one("limit", self.limit)


@dataclass(frozen=True, kw_only=True)
class Spending(Prices):
    """What a run may cost. Raises `UsageError`."""

    budget: Annotated[
        float | None, Doc("Stop asking before the requests of this run cost more, in the currency of the prices.")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget is not None and self.price_in is None:
            raise UsageError("--budget without prices", "give them too, per million tokens: --price-in, --price-out")
        if self.budget is not None and self.budget < 0:
            raise UsageError(f"--budget {self.budget:g}", "give 0 or more")
