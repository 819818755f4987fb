"""A dataset class for VLMEvalKit: questions of Spatial Engine that are no choices, scored by Spatial Engine's scorer.

Needs VLMEvalKit's repository: copy this file into its `vlmeval/dataset/`. The tables `*_open.tsv` and `scorer.zip` are
looked for in `LMUDataRoot()`. Several pictures of one question are several images, in the order of its prompt.
"""

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from vlmeval.dataset.image_base import ImageBaseDataset
from vlmeval.smp import LMUDataRoot, dump, get_intermediate_file_path, load

_ROOT = Path(LMUDataRoot())
if (_ROOT / "scorer.zip").is_file():
    sys.path.insert(0, str(_ROOT / "scorer.zip"))
try:
    from spatial_engine.scoring import own
    from templates.answers.score import Unscored
    from templates.question import Question
except ModuleNotFoundError as error:
    raise ImportError(f"{error.name} is needed to score: pip install scipy jaxtyping") from error


class SpatialEngineDataset(ImageBaseDataset):
    """Every table `spatial_*_open.tsv` in `LMUDataRoot()`, under its own name."""

    TYPE = "VQA"
    MODALITY = "IMAGE"
    DATASET_URL: ClassVar[dict[str, str]] = {path.stem: "" for path in sorted(_ROOT.glob("spatial_*_open.tsv"))}

    def load_data(self, dataset: str) -> pd.DataFrame:
        """The table of that name."""
        return pd.read_csv(_ROOT / f"{dataset}.tsv", sep="\t", dtype=str, keep_default_na=False)

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> pd.DataFrame:
        """Mean scores from 0 to 1: over all questions, and of each leaf."""
        questions = {str(row["index"]): question_of(row["item"]) for _, row in self.data.iterrows()}
        answered = load(eval_file)
        scores = [_score(questions[str(row["index"])], row["prediction"]) for _, row in answered.iterrows()]
        table = pd.DataFrame({"category": [questions[str(i)].ability for i in answered["index"]], "score": scores})
        means = {"Overall": table["score"].mean(), **table.groupby("category")["score"].mean().to_dict()}
        result = pd.DataFrame([means])
        dump(result, get_intermediate_file_path(eval_file, "_acc", "csv"))
        return result


def question_of(line: str) -> Question:
    """The question as it stands in the dataset."""
    record = json.loads(line)
    return Question(**{field.name: record[field.name] for field in fields(Question) if field.name in record})


def _score(question: Question, prediction: Any) -> float | None:
    scored = own.score(question, prediction if isinstance(prediction, str) else str(prediction))
    return None if isinstance(scored, Unscored) else scored.value
