"""Replies that are no rewording, in the wrong language, or with markup; and what rules hold of a translation."""

import json
from dataclasses import replace

import pytest

from spatial_engine.language.held import reworded
from spatial_engine.language.rewording import Wish

WISH = Wish(
    instructions="", prompt="How many metres is point P to the left of the camera in photo 2?", values=(),
    language="en", version=0,
)  # fmt: skip
SAME = "By how many metres does point P lie to the left of the camera in photo 2?"


def fault(text: str, wish: Wish = WISH) -> str | None:
    return reworded(wish, json.dumps({"prompt": text}, ensure_ascii=False))[1]


@pytest.mark.parametrize(
    "reply", ["", "no", "[]", '{"prompt": 3}', '{"text": "a"}', '{"prompt": ""}', '{"prompt": null}']
)
def test_a_reply_without_a_prompt(reply: str) -> None:
    assert reworded(WISH, reply) == ("", "the reply holds no rewording")


@pytest.mark.parametrize("reply", ['```json\n{"prompt": "%s"}\n```', "Sure! {'prompt': '%s'}", '{"prompt": "%s",}'])
def test_json_may_be_wrapped_or_slightly_wrong(reply: str) -> None:
    assert reworded(WISH, reply % SAME) == (SAME, None)


@pytest.mark.parametrize(
    "text", [f"**{SAME}**", f"<b>{SAME}</b>", f"{SAME}\n", f"`{SAME}`", f"# {SAME}", f"{SAME} https://a.b"]
)
def test_markup(text: str) -> None:
    assert fault(text + "x") == "the rewording has markup"


@pytest.mark.parametrize(
    "text",
    [
        "À combien de mètres le point P se trouve-t-il à gauche de la caméra dans la photo 2 ?",
        "Wie viele Meter liegt der Punkt P links von der Kamera in Foto 2?",
        "点P在照片2中位于相机左侧多少米？",
        "На сколько метров точка P левее камеры на фото 2?",
    ],
)
def test_another_language(text: str) -> None:
    assert fault(text) == "the rewording is in another language"


def test_the_same_words_and_too_many() -> None:
    assert fault(WISH.prompt) == "the wording is the same"
    assert fault(SAME + " I ask you this because I would like to know it." * 9) == "the rewording is too long"


GERMAN, CHINESE = replace(WISH, language="de"), replace(WISH, language="zh")


@pytest.mark.parametrize(
    ("wish", "text", "reason"),
    [
        (GERMAN, "Wie viele Meter liegt der Punkt P links von der Kamera in Foto 2?", None),
        (GERMAN, "Wie viele Meter liegt der Punkt P rechts von der Kamera in Foto 2?", "a direction differs"),
        (GERMAN, "Wie viele Zentimeter liegt der Punkt P links von der Kamera in Foto 2?", "a unit differs"),
        (
            GERMAN,
            "Wie viele Meter liegt der Punkt Q links von der Kamera in Foto 2?",
            "the marks differ, or their order",
        ),
        (GERMAN, "Wie viele Meter liegt der Punkt P nicht links von der Kamera in Foto 2?", "a negation differs"),
        (GERMAN, SAME, "the rewording is in another language"),
        (CHINESE, "点P在照片2中位于相机左侧多少米？", None),
        (CHINESE, "点P在照片2中位于相机右侧多少米？", "a direction differs"),
        (CHINESE, "点P在照片2中位于相机左侧多少厘米？", "a unit differs"),
        (CHINESE, "点P在照片1中位于相机左侧多少米？", "the marks differ, or their order"),
        (CHINESE, "点P在照片2中是否没有位于相机左侧多少米？", "a negation differs"),
    ],
)
def test_what_rules_hold_of_a_translation(wish: Wish, text: str, reason: str | None) -> None:
    assert fault(text, wish) == reason


def test_a_prompt_with_braces_of_its_own() -> None:
    plan = 'After {"actions": ["D", "↑"], "step_nums": [2, 1]}, what comes next?'
    wish = replace(WISH, prompt=plan)
    assert reworded(wish, json.dumps({"prompt": f"Tell me. {plan}"})) == (f"Tell me. {plan}", None)
