from dataclasses import replace
from typing import Any

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.hints import MOST, NOTHING, STATES, cues, kinds
from spatial_engine.evaluation.protocol import prompt
from templates.hints.kinds import LEAVES as KINDS
from templates.question import Question
from tests.spatial_engine import drafts
from tests.spatial_engine.evaluation.drafted import question, questions

ALL = questions()
MATCH = question(drafts.same_point(3))  # frames 3 and 8
RATIO = question(drafts.ratio(3))  # frame 3, 1.54


def showing(base: Question, *frames: int, marks: tuple[tuple[float, float], ...] = ()) -> Question:
    """The question about photos of these frames, the first of them marked."""
    template = {"kind": "frames", "path": "", "frame_size_px": [320, 240]}
    media: list[dict[str, Any]] = [{**template, "id": str(f), "frames": [f], "marks": []} for f in frames]
    media[0]["marks"] = [{"text": "P", "xy_px": list(xy)} for xy in marks]
    return replace(base, media=media)


ROUTE = showing(ALL["order"], 8, 3, 20)


def test_a_match_of_two_shown_photos_names_their_numbers_not_their_times() -> None:
    given, withheld = cues(ROUTE, ["correspondence"], [MATCH])
    assert [cue.text for cue in given["correspondence"]] == [
        "pixel [100, 100] of photo 1 and pixel [103, 100] of photo 2 are the same point of the scene."
    ]
    assert not withheld


def test_ratios_and_ranges_are_depths() -> None:
    one_mark = [{**RATIO.media[0], "marks": RATIO.media[0]["marks"][:1]}]
    metres = replace(RATIO, template="range_metres", answer=2.4, fact_id="another", media=one_mark)
    (ratio, metre) = sorted(cue.text for cue in cues(ROUTE, ["depth"], [RATIO, metres])[0]["depth"])
    assert ratio == "pixel [250, 180] of photo 2 is 1.54 times as far from the camera as pixel [60, 60] of photo 2."
    assert metre == "pixel [60, 60] of photo 2 is 2.4 m from the camera."


def test_what_is_not_shown_not_of_the_clip_or_the_question_itself_is_no_cue() -> None:
    for other in (replace(MATCH, clip="x"), replace(MATCH, fact_id=ROUTE.fact_id), question(drafts.same_point(4))):
        assert cues(ROUTE, ["correspondence"], [other]) == ({}, {"correspondence": NOTHING})


@pytest.mark.parametrize(("kind", "other"), [("correspondence", MATCH), ("depth", RATIO)])
def test_a_question_gets_no_cue_of_the_kind_that_it_asks_for(kind: str, other: Question) -> None:
    asked = replace(ROUTE, ability=KINDS[kind])
    assert cues(asked, [kind], [other]) == ({}, {kind: STATES})
    assert cues(asked, [kind], []) == ({}, {kind: STATES})


def test_no_cue_about_a_marked_point() -> None:
    plan = replace(ALL["plan"], template="navigate")
    marked = showing(plan, 8, 3, marks=((100.0, 104.0),))
    assert cues(marked, ["correspondence"], [MATCH])[1] == {"correspondence": STATES}
    elsewhere = showing(plan, 8, 3, marks=((200.0, 104.0),))
    assert "correspondence" in cues(elsewhere, ["correspondence"], [MATCH])[0]


def test_no_cue_about_the_point_that_is_asked_for() -> None:
    asked = replace(showing(ALL["point"], 3, 8), answer=[9.0, 9.0], ability="L2/Understanding/Affordance")
    assert cues(asked, ["depth"], [RATIO])[0]
    on_it = replace(asked, media=[*asked.media[::-1]], answer=[61.0, 61.0])
    assert cues(on_it, ["depth"], [RATIO]) == ({}, {"depth": STATES})


def test_no_cue_with_a_number_that_would_count_as_right() -> None:
    asked = replace(showing(ALL["numeric"], 3), fact_id="x", ability="L1/Motion/Ego", answer=1.5, tolerance=0.1)
    assert cues(asked, ["depth"], [RATIO])[1] == {"depth": STATES}
    assert cues(replace(asked, answer=2.5), ["depth"], [RATIO])[0]
    both = replace(asked, format="json", answer={"a": 9.0, "b": 1.6}, tolerance={"a": 1.0, "b": 0.1})
    assert cues(both, ["depth"], [RATIO])[1] == {"depth": STATES}


def test_the_prompt_has_the_hints_and_lists_withheld_ones() -> None:
    made = prompt(ROUTE, hints=("depth", "correspondence"), others=[MATCH, RATIO])
    assert made.hints_given == ("depth", "correspondence") and not made.hints_withheld
    (known,) = [part for part in made.parts if isinstance(part, str) and part.startswith("Known")]
    assert "of 320 x 240" in known and known.count("\n- Pixel") == 2
    assert made.parts.index(known) < made.parts.index(ROUTE.text)
    assert prompt(ROUTE, others=[MATCH]).parts == prompt(ROUTE).parts


def test_few_cues_in_an_order_of_their_own() -> None:
    others = [replace(MATCH, fact_id=f"{i:02d}", answer=[float(i), 9.0]) for i in range(MOST + 3)]
    given = cues(ROUTE, ["correspondence"], others[::-1])[0]["correspondence"]
    assert given == cues(ROUTE, ["correspondence"], others)[0]["correspondence"] and len(given) == MOST


def test_unknown_kinds_list_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"there is: correspondence, depth, size$"):
        prompt(ROUTE, hints=("colour",))


def test_a_template_of_the_same_name_with_other_marks_gives_no_hint() -> None:
    others = [replace(RATIO, template="range_metres"), replace(MATCH, media=MATCH.media[:1])]
    assert cues(ROUTE, ["depth", "correspondence"], others)[0] == {}


def test_every_kind_is_offered_for_templates_of_its_leaf_give_cues() -> None:
    assert kinds() == KINDS


BOX = {"shape": "box", "xy_px": [60.0, 60.0], "points_px": [[40.0, 20.4], [80.0, 100.0]]}
OTHER_BOX = {"shape": "box", "xy_px": [200.0, 60.0], "points_px": [[180.0, 20.0], [220.0, 100.0]]}


def boxed(template: str, *boxes: dict[str, Any], answer: float, **fact: str) -> Question:
    """A question of L1/Geometry/Size about boxes in frame 3."""
    media = [{**RATIO.media[0], "marks": boxes}]
    return replace(
        RATIO, template=template, ability=KINDS["size"], media=media, answer=answer, fact=fact, fact_id=template
    )


def test_sizes_of_objects_are_said_of_their_boxes() -> None:
    others = [
        boxed("object_size", BOX, answer=90.0, side="height"),
        boxed("wider_object", BOX, OTHER_BOX, answer=1.5),
        boxed("object_size", BOX, OTHER_BOX, answer=80.0, side="width"),
    ]
    given = sorted(cue.text for cue in cues(ROUTE, ["size"], others)[0]["size"])
    first, second = "the object in the box [40, 20, 80, 100]", "the object in the box [180, 20, 220, 100]"
    assert given == [
        f"{second} of photo 2 is 1.5 times as wide as {first} of photo 2.",
        f"{first} of photo 2 is 90 cm high.",
    ]


def test_no_size_of_an_object_whose_box_the_question_marks() -> None:
    others = [boxed("object_size", BOX, answer=90.0, side="height")]
    marked = showing(ALL["yes_no"], 3, 8, marks=((62.0, 60.0),))
    assert cues(marked, ["size"], others) == ({}, {"size": STATES})
