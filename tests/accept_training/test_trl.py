"""TRL's own trainers on our export: two steps, what counts in the loss, what the model sees, what is rewarded."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.scoring.reward import reward

STEPS = 2


@pytest.fixture(scope="module")
def rows(exports: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    from datasets import load_dataset

    return load_dataset(str(exports / "trl"), split="train", cache_dir=str(tmp_path_factory.mktemp("cache")))


def settings(out: Path, **more: Any) -> dict[str, Any]:
    """For a CPU."""
    shared = {"output_dir": str(out), "max_steps": STEPS, "logging_steps": 1, "report_to": [], "use_cpu": True}
    return shared | {"bf16": False, "learning_rate": 1e-3, "per_device_train_batch_size": 2} | more


def test_supervised_fine_tuning(rows: Any, tiny_model: Path, tmp_path: Path) -> None:
    import torch
    from trl import SFTConfig, SFTTrainer

    trainer = SFTTrainer(str(tiny_model), SFTConfig(max_length=None, **settings(tmp_path)), train_dataset=rows)
    before = copy.deepcopy(trainer.model.state_dict())
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == STEPS and all(0 < loss < 20 for loss in losses)
    changed = {name for name, weight in trainer.model.state_dict().items() if not torch.equal(weight, before[name])}
    assert any("vision_tower" in name for name in changed) and any("language_model" in name for name in changed)

    tokenizer = trainer.processing_class.tokenizer
    for row in rows:
        labels = trainer.data_collator([copy.deepcopy(row)])["labels"][0]
        (message,) = row["completion"]
        said = tokenizer.decode(labels[labels != -100])
        assert said == f"{message['content'][0]['text']}<|im_end|>\n"
    seen = [trainer.data_collator([copy.deepcopy(row)])["pixel_values"] for row in rows if row["images"]]
    assert len({pixels.numpy().tobytes() for pixels in seen}) > len(seen) / 2
    print(f"\nSFTTrainer: {len(rows)} rows, losses {[round(loss, 3) for loss in losses]}")


def test_reinforcement_learning(rows: Any, tiny_model: Path, tmp_path: Path) -> None:
    from trl import GRPOConfig, GRPOTrainer

    asked: list[tuple[str, str, float]] = []

    def watched(prompts: list[Any], completions: list[Any], question: list[str], **columns: Any) -> list[float]:
        found = reward(completions, question=question, **columns)
        said = [completion[-1]["content"] for completion in completions]
        asked.extend(zip(said, question, found, strict=True))
        return found

    config = GRPOConfig(num_generations=2, max_completion_length=16, **settings(tmp_path))
    trainer = GRPOTrainer(str(tiny_model), reward_funcs=watched, args=config, train_dataset=rows)
    trainer.train()
    losses = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == STEPS and all(abs(entry["loss"]) < 20 and entry["grad_norm"] >= 0 for entry in losses)
    assert len(asked) >= 2 * STEPS and all(json.loads(question)["id"] in rows["id"] for _, question, _ in asked)

    right = [row["completion"] for row in rows]
    wrong = [[{"role": "assistant", "content": "<answer>none of these</answer>"}]] * len(rows)
    for said, earned in ((right, [0.8, 1.0]), (wrong, [0.0, 0.0])):
        found = trainer._calculate_rewards([*rows], [*rows["prompt"]], said, [[0]] * len(rows)).flatten().tolist()
        assert earned[0] <= min(found) and max(found) <= earned[1]
    print(f"\nGRPOTrainer: losses {[entry['loss'] for entry in losses]}, right answers earn 0.8 to 1, wrong ones 0")


def test_the_reward_of_right_answers_pulls_the_model_to_them(rows: Any, tiny_model: Path, tmp_path: Path) -> None:
    """A model that learned one question by heart earns the full reward for what it generates itself."""
    from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

    one = rows.select([next(n for n, row in enumerate(rows) if row["images"])])
    taught = settings(tmp_path / "sft", max_steps=150, learning_rate=5e-3, per_device_train_batch_size=1)
    learner = SFTTrainer(str(tiny_model), SFTConfig(max_length=None, **taught), train_dataset=one)
    learner.train()
    learner.save_model(str(tmp_path / "learned"))
    length = len(learner.processing_class.tokenizer(one[0]["completion"][0]["content"][0]["text"])["input_ids"]) + 8
    config = GRPOConfig(num_generations=2, temperature=0.1, max_completion_length=length, **settings(tmp_path / "grpo"))
    trainer = GRPOTrainer(str(tmp_path / "learned"), reward_funcs=reward, args=config, train_dataset=one)
    trainer.train()
    first = next(entry["reward"] for entry in trainer.state.log_history if "reward" in entry)
    assert first >= 0.8
    print(f"\nlearned by heart, then asked by GRPOTrainer: reward {first}")
