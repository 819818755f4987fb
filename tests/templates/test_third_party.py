"""Templates of others that return what they must not: the error names the template and the field, and costs that
template alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jaxtyping
import numpy as np
import pytest
from jaxtyping import Float64, Int64

from templates.answers import Answer, Label, Numbers
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts
from templates.generate import ask_clip
from templates.measured import Measured
from templates.media import Drawing, Line, Photo, Sheet
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.registry import create_templates
from templates.scene.scene import Scene
from templates.settings import AskSettings
from templates.template import Template, TemplateError
from templates.wording import Wording
from tests.templates import worlds


@dataclass(frozen=True, kw_only=True)
class Photos(Facts):
    frame: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]


def fine(count: int) -> dict[str, Any]:
    return {"why": np.full(count, ""), "value": np.ones((count, 1)), "sigma": np.full((count, 1), 0.01)}


WORDING = Wording(prompts=("How large is it?",))


@dataclass(frozen=True, kw_only=True)
class Theirs(Template):
    """Asks for the number 1 about every photo, unless told to do something else."""

    name: str = "theirs"
    version: str = "1"
    ability: str = "L1/Size"
    formats: tuple[FormatName, ...] = ("numeric",)
    facts: ClassVar[type[Facts]] = Photos
    needs: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    proposed: Callable[[], Any] = lambda: Photos(frame=[0, 2, 4], a_px=np.ones((3, 2)))
    measured: Callable[[int], Any] = lambda count: Measured(**fine(count))
    answered: Callable[[Answer], Any] = lambda answer: answer
    offered: Callable[[int], Any] = lambda count: None
    phrased: Callable[[Any], Any] = lambda fact: Phrasing(media=(Photo(frame=fact["frame"]),))
    worded: Any = WORDING

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        return self.proposed()

    def measure(self, facts: Photos, scene: Scene) -> Measured:
        return self.measured(len(facts))

    def answer(self, format: FormatName, facts: Photos, measured: Measured) -> Any:
        tolerance = np.full_like(measured.value, 0.1)
        return self.answered(
            Numbers(names=("size",), value=measured.value, sigma=measured.sigma, tolerance=tolerance, unit="m")
        )

    def offer(self, format: FormatName, facts: Photos, answers: Any, chance: Any) -> Offer | None:
        return self.offered(len(facts))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        return self.phrased(fact)

    def wording(self, key: str) -> Wording:
        return self.worded


@pytest.fixture(autouse=True)
def as_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes are checked in tests alone: here as outside them."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def test_theirs_is_asked() -> None:
    (draft, *_) = worlds.drafts(worlds.ask(Theirs(), worlds.signals()))
    assert draft.prompt == "How large is it?" and draft.answer.to_json().value == pytest.approx(1)


def measures(**changes: Any) -> Theirs:
    return Theirs(measured=lambda count: Measured(**{**fine(count), **{k: v(count) for k, v in changes.items()}}))


def undeclared(count: int) -> Measured:
    return Measured(**fine(count), length=np.ones(count))  # type: ignore[call-arg]


def stacked_at(*rows: int) -> Theirs:
    return Theirs(
        answered=lambda answer: Answers(
            why=np.full(3, ""), stacks=((np.array(rows), answer.take(np.arange(len(rows)))),)
        )
    )


def offers(**changes: Any) -> Theirs:
    """Asks for one of two words."""
    fine = {
        "why": lambda n: np.full(n, ""),
        "options": lambda n: np.full((n, 2), "a"),
        "right": lambda n: np.zeros(n, int),
    }
    return Theirs(
        formats=("choice",), offered=lambda n: Offer(**{name: make(n) for name, make in (fine | changes).items()})
    )


def says(text: np.ndarray) -> Theirs:
    """Answers yes or no."""
    return Theirs(formats=("yes_no",), answered=lambda answer: Label(text=text, margin=np.full(3, 9.0)))


BAD: dict[str, tuple[Theirs, str]] = {
    "facts of wrong shape": (Theirs(proposed=lambda: Photos(frame=[0], a_px=np.ones((1, 3)))), r"Photos\.a_px has"),
    "facts of wrong dtype": (Theirs(proposed=lambda: Photos(frame=[0.5], a_px=np.ones((1, 2)))), r"Photos\.frame ho"),
    "facts of unequal lengths": (Theirs(proposed=lambda: Photos(frame=[0], a_px=np.ones((2, 2)))), "frame.*a_px"),
    "facts without a column": (Theirs(proposed=lambda: Photos.from_json([{"frame": 0}])), "a_px"),
    "facts with an undeclared column": (
        Theirs(proposed=lambda: Photos.from_json([{"frame": 0, "a_px": [1.0, 2.0], "b_px": 1}])), "b_px"),
    "rows instead of a table": (Theirs(proposed=lambda: [{"frame": 0}]), "propose returned list; allowed: Photos"),
    "value of wrong shape": (measures(value=np.ones), r"Measured\.value has shape"),
    "value of wrong dtype": (measures(value=lambda n: np.full((n, 1), "1")), r"Measured\.value holds <U1"),
    "label that is no text": (measures(label=np.zeros), r"Measured\.label holds float64"),
    "sigma of other components": (measures(sigma=lambda n: np.ones((n, 2))), r"value.*sigma|sigma.*value"),
    "too few rows": (measures(**{name: lambda n, name=name: fine(n - 1)[name] for name in fine(1)}), "2 rows for 3"),
    "an undeclared column": (Theirs(measured=undeclared), "length"),
    "NaN without a reason": (measures(value=lambda n: np.full((n, 1), np.nan)), r"row 0 no reason \(why\)"),
    "evidence of too few rows": (measures(evidence=lambda n: {"residual": np.ones(1)}), "evidence.*residual"),
    "no measurement": (Theirs(measured=lambda n: None), "measure returned NoneType; allowed: Measured"),
    "too few answers": (Theirs(answered=lambda answer: answer.take([0])), "Numbers has columns of .1. rows for 3"),
    "no answer": (Theirs(answered=lambda answer: None), "answer returned NoneType"),
    "offers of too few rows": (Theirs(offered=lambda n: Offer(why=np.full(n - 1, ""))), "offer returned 2 rows for 3"),
    "options of too few rows": (
        Theirs(offered=lambda n: Offer(why=np.full(n, ""), options=np.full((1, 2), "a"))), "Offer has columns"),
    "no offer": (Theirs(offered=lambda n: ["a", "b"]), "offer returned list; allowed: Offer"),
    "an infinite pixel": (Theirs(proposed=lambda: Photos(frame=[0], a_px=[[1, np.inf]])), r"Photos\.a_px is .* row 0"),
    "an infinite value": (
        measures(value=lambda n: np.tile([1, np.inf], (n, 1)), sigma=lambda n: np.ones((n, 2))), r"Measured\.value is"),
    "a negative sigma": (measures(sigma=lambda n: np.full((n, 1), -0.1)), r"Measured\.sigma is \[-0.1\] in row 0"),
    "a sigma that is no number": (measures(sigma=lambda n: np.full((n, 1), np.nan)), r"Measured\.sigma is \[nan\]"),
    "a probability above 1": (measures(outlier_probability=lambda n: np.full(n, 2.0)), "outlier_probability is 2.0"),
    "evidence that is no array": (measures(evidence=lambda n: {"residual": [1] * n}), "evidence.*residual.* list"),
    "an answer that is no number": (
        Theirs(answered=lambda a: replace(a, value=a.value * np.nan)), r"Numbers\.value is \[nan\] in row 0"),
    "an answer with too many names": (Theirs(answered=lambda a: replace(a, names=("a", "b"))), r"Numbers\.value has"),
    "a row without an answer": (stacked_at(0, 1), r"Answers\.stacks .* 0 in row 2"),
    "a row with two answers": (stacked_at(0, 1, 1), r"Answers\.stacks .* 2 in row 1"),
    "an answer to another row": (stacked_at(0, 1, 9), r"Answers\.stacks holds row 9; allowed: 0 to 2"),
    "no such format": (Theirs(formats=("choise",)), "'choise' in spatial_engine.formats; known: choice"),
    "a choice of nothing": (Theirs(formats=("choice",)), "offer returned no options"),
    "an offer of one axis": (offers(options=np.zeros), r"Offer\.options has shape"),
    "an offer whose right is no index": (offers(right=np.zeros), r"Offer\.right is float64"),
    "a reason that is no text": (offers(why=np.zeros), r"Offer\.why is float64"),
    "an option without a text": (offers(), "no option 'a'"),
    "fewer texts than options": (
        replace(offers(), phrased=lambda fact: Phrasing(media=(), options=("one",))), r"Phrasing\.options holds 1"),
    "no phrasing": (Theirs(phrased=lambda fact: None), "phrase returned NoneType; allowed: Phrasing"),
    "media that are no tuple": (Theirs(phrased=lambda fact: Phrasing(media=Photo(frame=0))), r"Phrasing\.media is"),
    "a placeholder without a value": (
        Theirs(worded=Wording(prompts=("Is {it}?",), placeholders=("it",))), r"Phrasing\.values lacks it"),
    "no wording": (Theirs(worded="How large is it?"), "wording returned str; allowed: Wording"),
    "words for a number": (
        Theirs(answered=lambda a: Label(text=np.full(3, "yes"), margin=np.full(3, 9.0))),
        "answer returned Label for numeric; allowed: Numbers, Count"),
    "two numbers for one": (
Theirs(answered=lambda a: Numbers(names=("a", "b"), value=np.ones((3, 2)), sigma=np.ones((3, 2)) / 99, unit="m",
                                          tolerance=np.ones((3, 2)))), r"Numbers\.names is .* allowed: one name"),
    "a flag for a word": (says(np.full(3, True)), r"Label\.text holds bool; allowed: text"),
    "another word than yes and no": (says(np.array(["true", "no", ""])), r"Label\.text is 'true' for yes_no; allowed"),
    "a number for yes and no": (Theirs(formats=("yes_no",)), "returned Numbers for yes_no; allowed: Label, Shape"),
    "a phrase that raises": (Theirs(phrased=lambda fact: fact["b_px"]), "b_px"),
}  # fmt: skip


@pytest.mark.parametrize(("template", "said"), BAD.values(), ids=BAD)
def test_the_error_names_template_and_field(template: Theirs, said: str) -> None:
    with pytest.raises(TemplateError, match="the template theirs failed") as raised:
        worlds.ask(template, worlds.signals())
    assert raised.value.template is template
    with pytest.raises((TypeError, ValueError, LookupError), match=said):
        raise raised.value.__cause__  # type: ignore[misc]


@pytest.mark.parametrize("template", [template for template, _ in BAD.values()], ids=BAD)
def test_it_costs_that_template_alone(template: Theirs) -> None:
    tilt = create_templates()["camera_tilt"]
    found = ask_clip(
        worlds.clip(), worlds.signals(), [template, tilt], AskSettings(), 0, lambda who, error: f"{who.name} failed"
    )
    assert {asked.template.name for asked in found.asked} == {"camera_tilt"}
    assert [(r.template, r.reason, r.count) for r in found.refusals if r.template == "theirs"] == [
        ("theirs", "theirs failed", 1)
    ]


def test_some_numbers_may_be_unknown_where_there_is_a_reason() -> None:
    def partly(count: int) -> Measured:
        known = np.arange(count) > 0
        return replace(
            Measured(**fine(count)), why=np.where(known, "", "hidden"), value=np.where(known, 1.0, np.nan)[:, None]
        )

    found = worlds.ask(Theirs(measured=partly), worlds.signals())
    assert len(found) == 2 and worlds.reasons(found) == {"hidden"}


def test_words_that_fail_for_some_facts_cost_those_alone() -> None:
    def phrased(fact: Mapping[str, Json]) -> Phrasing:
        if fact["frame"] == 0:
            raise KeyError("b_px")
        return Phrasing(media=(Photo(frame=fact["frame"]),))

    found = worlds.ask(Theirs(phrased=phrased), worlds.signals())
    (asked,) = found.asked
    assert len(asked) == 3 and not found.refusals
    with pytest.raises(KeyError, match="b_px"):
        asked.draft(0)
    assert asked.draft(1).media == (Photo(frame=2),)


@pytest.mark.parametrize("picture", [Sheet(lines=(Line(points=((0, 0), (1, 1))),)), Drawing(), Photo(frame=0)])
@pytest.mark.parametrize("options", [np.full((3, 2), "a"), np.ones((3, 2)), np.ones((3, 2, 4, 2))], ids=str)
def test_options_that_are_pictures_have_no_words(picture: Any, options: np.ndarray) -> None:
    shown = (picture, replace(picture, **{"frame": 2} if isinstance(picture, Photo) else {}))
    pictured = replace(
        offers(options=lambda n: options), phrased=lambda fact: Phrasing(media=(Photo(frame=2),), options=shown)
    )
    if options.dtype.kind == "U":
        pictured = replace(pictured, answered=lambda answer: Label(text=options[:, 0].copy(), margin=np.full(3, 9.0)))
    (asked,) = worlds.ask(pictured, worlds.signals()).asked
    assert asked.right_words().tolist() == ["", "", ""] and asked.take(np.array([1])).pictures
    assert [option.shown for option in asked.draft(0).options] == list(shown)
