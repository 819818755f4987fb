"""Each kind of planted leak is found by its baseline; no leak is found in a balanced dataset."""

from hashlib import sha256

import numpy as np
import pytest

from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.leaks.question_table import QuestionTable
from tests.spatial_engine.leaks.asked import PLACES, all_fair, choice, fair_choice, made, question, scenes_of


def audited(questions, **more):
    scenes = scenes_of(questions)
    return leak_audit(QuestionTable.of(questions), scenes=scenes, splits={"train": sorted(scenes)}, seed=0, **more)


def leaking(questions):
    return {leak["baseline"] for leak in audited(questions)["found"]}


def always_the_same_words(n, clip, rng):
    options = ["far ahead", *rng.permutation([p for p in PLACES if p != "far ahead"])[:3]]
    order = rng.permutation(4)
    right = 0 if rng.random() < 0.6 else int(rng.integers(4))
    return choice(n, clip, [options[k] for k in order], order.tolist().index(right))


def mostly_yes(n, clip, rng):
    return question(n, clip, "yes_no", "yes" if rng.random() < 0.8 else "no", "Does it move?")


def mostly_b(n, clip, rng):
    return choice(n, clip, rng.permutation(PLACES)[:4].tolist(), 1 if rng.random() < 0.5 else int(rng.integers(4)))


def longest_is_right(n, clip, rng):
    options = [f"{rng.integers(10**6)}" for _ in range(4)]
    right = int(rng.integers(4))
    options[right] += " centimetres" if rng.random() < 0.8 else ""
    return choice(n, clip, options, right)


def later_photo_first(n, clip, rng):
    right = int(rng.integers(4))
    media = [
        {"id": f"{n}{k}", "kind": "frames", "path": f"media/{n}{k}.jpg", "frames": [f]} for k, f in ((0, 5), (1, 9))
    ]
    turned = ("just behind", "far ahead").index(PLACES[2 + right % 2]) if right in (0, 1) else int(rng.integers(2))
    return choice(n, clip, PLACES[:4], (3, 2)[turned], media=media[::-1] if turned else media)


def prompt_says_it(n, clip, rng):
    right, options = int(rng.integers(4)), rng.permutation(PLACES)[:4].tolist()
    hint = {"to the left": "mug", "to the right": "cup", "far ahead": "sofa", "just behind": "plant"}
    word = hint.get(options[right], "box") if rng.random() < 0.8 else "box"
    return choice(n, clip, options, right, f"Where is the {word}, seen from photo {rng.integers(9)}?")


def prompt_says_yes(n, clip, rng):
    yes = bool(rng.integers(2))
    word = rng.choice(["car", "dog"] if yes ^ (rng.random() < 0.1) else ["wall", "tree"])
    return question(n, clip, "yes_no", "yes" if yes else "no", f"Does the {word} move in photo {rng.integers(9)}?")


def prompt_says_how_much(n, clip, rng):
    word = str(rng.choice(["mug", "door", "house", "mountain"]))
    metres = {"mug": 1.0, "door": 3.0, "house": 20.0, "mountain": 400.0}[word] * rng.uniform(0.8, 1.2)
    return question(n, clip, "numeric", round(metres, 2), f"How far is the {word}?", tolerance=0.05)


def middle_number_is_right(n, clip, rng):
    value = rng.uniform(1, 5)
    options = [f"{value * f:.1f} m" for f in (0.5, 1.0, 1.5, 2.0)]
    order = rng.permutation(4)
    right = int(rng.choice([1, 2], p=[0.9, 0.1]))
    return choice(n, clip, [options[k] for k in order], order.tolist().index(right))


def one_number_fits_all(n, clip, rng):
    return question(n, clip, "numeric", round(float(rng.normal(1.0, 0.05)), 2), "How far?", tolerance=0.15)


def held_level(n, clip, rng):
    answer = {"roll": float(rng.normal(0, 2)), "pitch": float(rng.normal(0, 2))}
    return question(n, clip, "json", answer, "How is it held?", tolerance={"roll": 5.0, "pitch": 5.0})


def in_the_middle(n, clip, rng):
    return question(n, clip, "point", rng.normal(160, 5, 2).tolist(), "Where is it?", tolerance=20.0)


def direction_is_behind(n, clip, rng):
    angle = float((180 + rng.normal(0, 5) + 180) % 360 - 180)  # on both sides of the seam
    return question(n, clip, "numeric", angle, "Which way?", tolerance=15.0, scorer_params={"period": 360.0})


def always_this_order(n, clip, rng):
    answer = [3, 2, 4, 5] if rng.random() < 0.5 else (rng.permutation(4) + 2).tolist()
    return question(n, clip, "order", answer, "In which order?")


@pytest.mark.parametrize(
    ("planted", "baseline"),
    [
        (always_the_same_words, "majority"),
        (mostly_yes, "majority"),
        (one_number_fits_all, "majority"),
        (held_level, "majority"),
        (in_the_middle, "majority"),
        (direction_is_behind, "majority"),
        (always_this_order, "majority"),
        (mostly_b, "position"),
        (longest_is_right, "length"),
        (later_photo_first, "frame_order"),
        (prompt_says_it, "blind_baseline"),
        (prompt_says_yes, "blind_baseline"),
        (prompt_says_how_much, "blind_baseline"),
        (middle_number_is_right, "blind_baseline"),
    ],
)
def test_a_planted_leak_is_found(planted, baseline):
    assert baseline in leaking(made(planted))


def test_each_leak_is_found_by_its_own_baseline():
    assert leaking(made(mostly_b)) == {"position", "blind_baseline"}
    assert "position" not in leaking(made(longest_is_right)) and "majority" not in leaking(made(prompt_says_yes))


@pytest.mark.parametrize("seed", range(2))
def test_a_balanced_set_has_no_leak(seed):
    assert audited(all_fair(seed))["found"] == []


def test_a_small_set_has_a_wide_interval():
    cell = audited(made(mostly_yes, 8))["baselines"]["majority"]["overall"]
    assert cell["interval"][0] < 0 and cell["interval"][1] > 0.3


def test_frequent_numbers():
    def ones(n, clip, rng):
        return question(n, clip, "numeric", float(rng.choice([1, 2, 3, 50])), "How many?", tolerance=0.1)

    found = audited(made(ones))["frequent_numbers"]["t numeric"]
    assert found["leak"] and found["distinct"] == 4 and found["answers"] == 300
    assert not audited(all_fair(0, 60))["frequent_numbers"]["t numeric"]["leak"]


def test_equal_questions_give_equal_bytes_and_order_does_not_count_for_labels():
    questions = all_fair(3, 20)
    assert audited(questions) == audited(questions)
    assert audited(questions[::-1])["baselines"]["position"] == audited(questions)["baselines"]["position"]


def test_no_question_is_predicted_by_a_model_that_was_trained_on_it():
    def secret(n):  # every clip has a word and an answer of its own, said twice
        word = sha256(f"{n // 2}".encode()).hexdigest()
        answer = "yes" if word[-1] < "8" else "no"
        return question(n, f"clip {n // 2}", "yes_no", answer, f"Does {word[:8]} move?")

    found = audited([secret(n) for n in range(400)])["baselines"]["blind_baseline"]["overall"]
    assert abs(found["gain"]) < 0.1


@pytest.mark.parametrize(
    "questions",
    [
        [],
        made(fair_choice, 1),
        [question(0, "c", "yes_no", "yes", "Does it move?")] * 3,
        [question(n, "one clip", "yes_no", "yes", "Does it move?") for n in range(40)],
        [choice(n, f"c{n % 3}", [], 0) for n in range(9)],
        [choice(n, f"c{n % 3}", ["only"], 0) for n in range(9)],
        [choice(n, f"c{n % 3}", ["a", "b"], 5) for n in range(9)],
        [choice(n, f"c{n % 3}", ["", ""], 0, "") for n in range(9)],
        [question(n, f"c{n % 3}", "numeric", None, "") for n in range(9)],
        [question(n, f"c{n % 3}", "numeric", 1.0, "How far? \ud800") for n in range(9)],
        [question(n, f"c{n % 3}", "point", [], "", tolerance=1.0) for n in range(9)],
        [question(n, f"c{n % 3}", "json", {"a": "b"}, "", tolerance={}) for n in range(9)],
        [question(n, f"c{n % 3}", "plan", {"actions": [], "step_nums": []}, "") for n in range(9)],
        [question(n, f"c{n % 3}", "text", "words", "x" * 10**5) for n in range(9)],
    ],
)
def test_odd_sets_are_audited(questions):
    found = audited(questions)
    assert found["found"] == [] and all(
        np.isfinite(n) for n in (found["folds"]["count"], found["near_duplicates"]["pairs"])
    )


def test_free_text_is_not_guessed_from_the_prompt():
    asked = [question(n, f"clip {n % 9}", "text", f"The lamp is {n} m away.", "Describe it.") for n in range(200)]
    assert audited(asked)["found"] == []


def test_folds_of_one_scene_keep_facts_together():
    from spatial_engine.leaks.splits import folds_of

    questions = [question(n, "one", "yes_no", "yes", "?", fact_id=f"fact {n // 2}") for n in range(20)]
    folds, grouped_by = folds_of(QuestionTable.of(questions), {"one": "one"})
    assert grouped_by == "fact" and len(set(folds)) == 5 and (folds[::2] == folds[1::2]).all()
