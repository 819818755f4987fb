"""Training rows in the forms of LLaVA and of ShareGPT: one turn that asks, one that answers, a file per split.

LLaVA: `[{id, image, conversations: [{from: "human"}, {from: "gpt"}]}]`. `image` is a path below the folder that the
trainer calls `--image_folder`, or a list of paths where there are several: LLaVA-NeXT reads both, LLaVA 1.5 a path.

ShareGPT, as LLaMA-Factory reads it: `{messages: [{role, content}], images: [...]}` and a `dataset_info.json`. It
refuses rows whose `<image>` and `<video>` tokens do not equal their files in number. It takes relative paths from its
`media_dir`, by default the folder of `dataset_info.json`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation import protocol
from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.export.exporter import Exported, questions_by_split, slug
from spatial_engine.export.mixture import Mixture, OtherRow, placed
from spatial_engine.language.reasoning import thought
from spatial_engine.output_folder import place_file
from templates.columns import Json
from templates.question import Question

TOKEN, VIDEO_TOKEN = "<image>", "<video>"
IMAGES = "images"
_TRAINING = "train"
INFO = "dataset_info.json"
_TOKENS = re.compile(r"<(image|video|audio)>")

_README = """\
Training rows for {trainer}.
Prompts are those of Spatial Engine's evaluation, which call to think first only where the answer holds reasoning in
<think> tags; answers stand in <answer> tags.
This form has no place for σ, tolerance, evidence and licences: find them in the dataset, under the same `id`.
"""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One question and its answer."""

    system: str
    """The question's instructions where a system message holds them, else ""."""
    asked: str
    """The evaluation's prompt, with a call to think first where `answered` does; as many tokens as `images` and
    `videos`, in their order."""
    answered: str
    """The right answer, in the tags that evaluation asks for, after the reasoning in its own tags, if any."""
    images: tuple[str, ...]
    """Paths below the export."""
    videos: tuple[str, ...] = ()
    """Likewise."""


def conversation(question: Question, system_prompt: bool = False, reasoning: str = "none") -> Conversation:
    """What evaluation asks, and the right answer; `reasoning` is none, auto or all."""
    shown = protocol.prompt(question, system_prompt=system_prompt)
    reasoned = thought(question, reasoning)
    _, *parts, _ = shown.parts  # instruction, pictures and question, form of the answer
    parts.append(answer_form(question, thinks=bool(reasoned)))
    texts: list[str] = []
    files: dict[str, list[str]] = {TOKEN: [], VIDEO_TOKEN: []}
    for part in parts:
        if isinstance(part, str):
            texts.append(_without_tokens(part))
            continue
        token = VIDEO_TOKEN if part.get("kind") == "video" else TOKEN
        texts.append(token)
        files[token].append(f"{IMAGES}/{Path(part['path']).name}")
    return Conversation(
        system=_without_tokens(shown.system),
        asked="\n".join(texts),
        answered=_without_tokens(reasoned + oracle_text(question)),
        images=tuple(files[TOKEN]),
        videos=tuple(files[VIDEO_TOKEN]),
    )


def answer_form(question: Question, thinks: bool = False) -> str:
    """How to answer, with or without reasoning first."""
    first = "Think step by step between <think> and </think>. Then give" if thinks else "Give"
    return f"{first} the answer, and nothing else, between <answer> and </answer>: {protocol.form(question)}."


def export_llava(dataset: Dataset, folder: Path, *, mix: Mixture | None = None, reasoning: str = "none") -> Exported:
    """Writes `SPLIT.json`, `images/` and a README into `folder`. Leaves out questions that show a video and more.

    `mix`: other rows among those of the training split."""
    row, form = partial(llava_row, reasoning=reasoning), llava_form
    return _export_llava(dataset, folder, row, mix, form, "LLaVA takes pictures or one video, not both")


def export_llava_15(dataset: Dataset, folder: Path, *, mix: Mixture | None = None, reasoning: str = "none") -> Exported:
    """Likewise, for the loader of LLaVA 1.5: only what shows one picture or none."""

    def row(question: Question) -> dict[str, Json] | None:
        return _of_one_picture(llava_row(question, reasoning))

    def form(other: OtherRow, images: Sequence[str], videos: Sequence[str]) -> dict[str, Json] | None:
        return _of_one_picture(llava_form(other, images, videos))

    return _export_llava(dataset, folder, row, mix, form, "LLaVA 1.5 takes one picture at most, and no video")


def export_sharegpt(
    dataset: Dataset,
    folder: Path,
    *,
    system_prompt: bool = False,
    mix: Mixture | None = None,
    reasoning: str = "none",
) -> Exported:
    """Writes `SPLIT.json`, `dataset_info.json`, `images/` and a README into `folder`. Holds every question.

    `mix`: other rows among those of the training split."""
    row = partial(sharegpt_row, system_prompt=system_prompt, reasoning=reasoning)
    counts = _write_splits(dataset, folder, row, mix, sharegpt_form)
    entries = {f"{slug(dataset.path)}_{Path(file).stem}": _entry(file) for file in counts}
    write_json(folder / INFO, entries)
    names = ", ".join(f"`{name}`" for name in entries) or "none"
    trainer = f"LLaMA-Factory: `dataset_dir:` this folder, `dataset:` one of {names}"
    (folder / "README.md").write_text(_README.format(trainer=trainer), encoding="utf-8")
    files = (*counts, INFO, IMAGES, "README.md")
    return Exported(rows=sum(counts.values()), left_out={}, files=files, splits=_by_split(counts), detail=_mixed(mix))


def llava_row(question: Question, reasoning: str = "none") -> dict[str, Json] | None:
    """One row of LLaVA's form, where a video has the token of an image; None for what it cannot hold."""
    turn = conversation(question, reasoning=reasoning)
    if turn.videos and (turn.images or len(turn.videos) > 1):
        return None
    files = turn.images[0] if len(turn.images) == 1 else list(turn.images)
    shown = {"video": turn.videos[0]} if turn.videos else {"image": files} if files else {}
    asked = turn.asked.replace(VIDEO_TOKEN, TOKEN)
    turns = [{"from": "human", "value": asked}, {"from": "gpt", "value": turn.answered}]
    return {"id": question.id, **shown, "conversations": turns}


def _of_one_picture(row: dict[str, Json] | None) -> dict[str, Json] | None:
    return None if row is None or "video" in row or isinstance(row.get("image"), list) else row


def sharegpt_row(question: Question, system_prompt: bool = False, reasoning: str = "none") -> dict[str, Json]:
    """One row of ShareGPT's form; a system message is the first one."""
    turn = conversation(question, system_prompt, reasoning)
    messages = [{"role": "user", "content": turn.asked}, {"role": "assistant", "content": turn.answered}]
    if turn.system:
        messages.insert(0, {"role": "system", "content": turn.system})
    return {"id": question.id, "messages": messages, "images": list(turn.images), "videos": list(turn.videos)}


def llava_form(row: OtherRow, images: Sequence[str], videos: Sequence[str]) -> dict[str, Json] | None:
    """A row of another set in LLaVA's form; a system message begins the first turn. None for what it cannot hold."""
    if videos and (images or len(videos) > 1):
        return None
    files = images[0] if len(images) == 1 else list(images)
    shown = {"video": videos[0]} if videos else {"image": files} if images else {}
    first = f"{row.turns[0][1]}\n" if row.turns[0][0] == "system" else ""
    turns = [(role, text.replace(VIDEO_TOKEN, TOKEN)) for role, text in row.turns if role != "system"]
    said = [{"from": "human" if role == "user" else "gpt", "value": text} for role, text in turns]
    said[0]["value"] = first + said[0]["value"]
    return {"id": row.id, **shown, "conversations": said}


def sharegpt_form(row: OtherRow, images: Sequence[str], videos: Sequence[str]) -> dict[str, Json] | None:
    """A row of another set in ShareGPT's form."""
    messages = [{"role": role, "content": text} for role, text in row.turns]
    return {"id": row.id, "messages": messages, "images": list(images), "videos": list(videos)}


_Form = Callable[[OtherRow, Sequence[str], Sequence[str]], dict[str, Json] | None]


def _other_rows(mix: Mixture, own: int, folder: Path, form: _Form) -> list[dict[str, Json]]:
    """The rows of a mixture in a form, with their files in `images/`."""
    rows = []
    for other in mix.rows(own):
        named = [
            [f"{IMAGES}/{placed(file, folder / IMAGES)}" for file in files] for files in (other.images, other.videos)
        ]
        if (row := form(other, *named)) is None:
            mix.broken["pictures and videos that the form cannot hold"] += 1
            mix.taken -= 1
        else:
            rows.append(row)
    return rows


def _interleaved(own: list[dict[str, Json]], others: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Both in their order, as evenly as can be."""
    rows: list[dict[str, Json]] = []
    for number, row in enumerate(own):
        rows += [row, *others[len(others) * number // len(own) : len(others) * (number + 1) // len(own)]]
    return rows


def _by_split(counts: Mapping[str, int]) -> dict[str, int]:
    """Rows of each split, from those of each file."""
    return {Path(file).stem: count for file, count in counts.items()}


def _export_llava(
    dataset: Dataset,
    folder: Path,
    row: Callable[[Question], dict[str, Json] | None],
    mix: Mixture | None,
    form: _Form,
    reason: str,
) -> Exported:
    """`reason`: why `row` gives None."""
    counts = _write_splits(dataset, folder, row, mix, form)
    missing = sum(1 for question in dataset.questions if row(question) is None)
    trainer = "LLaVA and its relatives: `--data_path SPLIT.json --image_folder` this folder"
    (folder / "README.md").write_text(_README.format(trainer=trainer), encoding="utf-8")
    files = (*counts, IMAGES, "README.md")
    left_out = {reason: missing} if missing else {}
    return Exported(
        rows=sum(counts.values()), left_out=left_out, files=files, splits=_by_split(counts), detail=_mixed(mix)
    )


def _mixed(mix: Mixture | None) -> dict[str, Json]:
    return {} if mix is None else {"mix": mix.record()}


def _write_splits(
    dataset: Dataset,
    folder: Path,
    row: Callable[[Question], dict[str, Json] | None],
    mix: Mixture | None,
    form: _Form,
) -> dict[str, int]:
    """Writes the rows of each split and the files that they show; number of our rows by file."""
    (folder / IMAGES).mkdir()
    counts = {}
    for split, questions in questions_by_split(dataset).items():
        rows = []
        for question in questions:
            if (made := row(question)) is not None:
                rows.append(made)
                _place_files(dataset, question, folder)
        counts[f"{split}.json"] = len(rows)
        if mix is not None and split == _TRAINING:
            rows = _interleaved(rows, _other_rows(mix, len(rows), folder, form))
        write_json(folder / f"{split}.json", rows)
    return counts


def _place_files(dataset: Dataset, question: Question, folder: Path) -> None:
    for medium in question.media:
        target = folder / IMAGES / Path(medium["path"]).name
        if not target.exists():
            place_file(dataset.path / medium["path"], target)


def _entry(file: str) -> dict[str, Json]:
    roles = {"system_tag": "system", "user_tag": "user", "assistant_tag": "assistant"}
    return {
        "file_name": file,
        "formatting": "sharegpt",
        "columns": {"messages": "messages", "images": "images", "videos": "videos"},
        "tags": {"role_tag": "role", "content_tag": "content", **roles},
    }


def _without_tokens(text: str) -> str:
    """Words that look like a token are rewritten: trainers count tokens wherever they stand."""
    return _TOKENS.sub(r"(\1)", text)
