"""To Label Studio and back: tasks with annotations in its JSON, and the labelling configuration that they fit.

Format: "Label Studio JSON format of annotated tasks" and the pages of the tags in Label Studio's documentation.
"""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from spatial_engine.adjudication.showing import content_hash, picture_file, recorded
from spatial_engine.adjudication.steps import MAX_NOTE, WORDS, Judgement, Step, StepFile, holding
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.atomic_file import atomic_file, write_json
from spatial_engine.errors import UsageError
from templates.columns import Json
from templates.question import Question

_UNKNOWN_TIME = "1970-01-01T00:00:00Z"
CONFIG = """\
<View>
  <Header value="$ability"/>
  <Image name="pictures" valueList="$pictures"/>
  <Text name="prompt" value="$prompt"/>
  <Header value="Your own answer, before you see the recorded one; leave it empty if you cannot tell"/>
  <TextArea name="own" toName="prompt" maxSubmissions="1" editable="true"/>
  <Choices name="how" toName="prompt" choice="multiple">
    <Choice value="answered blind"/>
    <Choice value="show the recorded answer"/>
    <Choice value="looked at the evidence"/>
    <Choice value="third pass"/>
  </Choices>
  <View visibleWhen="choice-selected" whenTagName="how" whenChoiceValue="show the recorded answer">
    <Text name="recorded" value="$recorded"/>
    <Choices name="verdict" toName="prompt" choice="single" required="true">
      <Choice value="right"/>
      <Choice value="wrong"/>
      <Choice value="undecided"/>
      <Choice value="bad"/>
    </Choices>
    <TextArea name="note" toName="prompt" maxSubmissions="1" editable="true"/>
    <TextArea name="annotator" toName="prompt" maxSubmissions="1" editable="true"/>
  </View>
</View>
"""
"""`annotator` carries a name through: Label Studio takes no user on import that it does not know."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The result of an import."""

    verdicts: int
    left_out: Mapping[str, int]
    """Number of skipped entries, by reason."""


def to_label_studio(verdicts: Verdicts, questions: list[Question], out: Path) -> Path:
    """Writes `out` (a list of tasks) and, beside it, the configuration; returns the path of the configuration.

    Pictures are addressed as Label Studio serves local files, from the folder that holds the dataset.
    """
    judged = verdicts.judged()
    tasks = [
        _task(verdicts, question, {name: of[question.id] for name, of in judged.items() if question.id in of})
        for question in questions
    ]
    write_json(out, tasks)
    config = out.with_suffix(".config.xml")
    with atomic_file(config) as temporary:
        temporary.write_text(CONFIG, encoding="utf-8")
    return config


def from_label_studio(verdicts: Verdicts, file: Path) -> Imported:
    """Adds the annotations of an export to the files of the annotators. A second import adds nothing.

    Of two verdicts of one annotator the newer stays. What cannot be used is counted, and does not stop the rest.
    Raises `UsageError` if the file is no list of tasks, or an annotator's file is in use.
    """
    try:
        tasks = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no JSON: {error}", "export from Label Studio as JSON, not JSON-MIN") from error
    if not isinstance(tasks, list):
        raise UsageError(f"{file} holds no list of tasks", "export from Label Studio as JSON, not JSON-MIN")
    added, left_out = 0, Counter[str]()
    with ExitStack() as held:
        files: dict[str, StepFile] = {}
        present: dict[str, dict[str, Judgement]] = {}
        for name, answer, verdict, reason in (found for task in tasks for found in _annotations(verdicts, task)):
            if reason or answer is None or verdict is None:
                left_out[reason] += 1
                continue
            if name not in files:
                files[name] = held.enter_context(holding(verdicts.file(name)))
                present[name] = verdicts.history(name).judgements()
            before = present[name].get(verdict.question, Judgement()).verdict
            if before is not None and before.at >= verdict.at:
                left_out["already here, as new or newer"] += 1
                continue
            for step in (answer, verdict):
                files[name].append(step)
            present[name][verdict.question] = Judgement(answer=answer, verdict=verdict)
            added += 1
    return Imported(verdicts=added, left_out=dict(left_out))


def _task(verdicts: Verdicts, question: Question, judgements: Mapping[str, Judgement]) -> dict[str, Json]:
    lettered = [f"{chr(65 + place)}: {text}" for place, text in enumerate(question.options)]
    pictures = [medium for medium in question.media if medium.get("option")]
    if pictures:
        lettered = [f"the last {len(pictures)} pictures are the options, A first"]
    root = verdicts.dataset.path.resolve()
    files = [picture_file(root, question, place) for place in range(len(question.media))]
    return {
        "data": {
            "question_id": question.id,
            "content": content_hash(question),
            "ability": question.ability,
            "prompt": "\n".join([question.text, *lettered]),
            "pictures": [
                f"/data/local-files/?d={quote(str(file.relative_to(root.parent)))}"
                for file in files
                if file is not None
            ],
            "recorded": json.dumps(recorded(question), ensure_ascii=False),
        },
        "annotations": [_annotation(name, judgements[name]) for name in sorted(judgements)],
    }


def _annotation(name: str, judgement: Judgement) -> dict[str, Json]:
    answer, verdict = judgement.answer, judgement.verdict
    if verdict is None:
        raise ValueError("only what was judged is exported")
    how = ["show the recorded answer"]
    how += ["answered blind"] if answer is not None and answer.blind else []
    how += ["looked at the evidence"] if verdict.evidence else []
    how += ["third pass"] if verdict.third else []
    result = [_choices("how", how), _choices("verdict", [str(verdict.verdict)]), _text("annotator", name)]
    if answer is not None and answer.own is not None:
        result.append(_text("own", json.dumps(answer.own, ensure_ascii=False)))
    if verdict.note:
        result.append(_text("note", verdict.note))
    return {
        "result": result,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": verdict.at if answer is None else answer.at,
        "updated_at": verdict.at,
        "lead_time": verdict.seconds,
    }


def _choices(name: str, values: list[str]) -> dict[str, Json]:
    return {"id": name, "from_name": name, "to_name": "prompt", "type": "choices", "value": {"choices": values}}


def _text(name: str, value: str) -> dict[str, Json]:
    return {"id": name, "from_name": name, "to_name": "prompt", "type": "textarea", "value": {"text": [value]}}


_Found = tuple[str, Step | None, Step | None, str]
"""Annotator, own answer and verdict; or the reason why there are none."""


def _annotations(verdicts: Verdicts, task: Any) -> list[_Found]:
    """The content of one task, by annotation."""
    data = task.get("data") if isinstance(task, dict) else None
    annotations = task.get("annotations") if isinstance(task, dict) else None
    if not isinstance(data, dict) or not isinstance(annotations, list):
        return [("", None, None, "no task with data and annotations")]
    id = data.get("question_id")
    if not isinstance(id, str) or id not in verdicts.questions:
        return [("", None, None, "not a question of this dataset")] * len(annotations)
    if data.get("content") != verdicts.contents[id]:
        return [("", None, None, "the question has changed since")] * len(annotations)
    return [_found(verdicts, id, annotation) for annotation in annotations]


def _found(verdicts: Verdicts, id: str, annotation: Any) -> _Found:
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        return "", None, None, "no annotation with a result"
    if annotation.get("was_cancelled") is True:
        return "", None, None, "skipped by its annotator"
    values = _values(annotation["result"])
    name = _annotator(values, annotation.get("completed_by"))
    try:
        verdicts.file(name)
    except UsageError:
        return "", None, None, "no usable name of an annotator"
    words = [word for word in WORDS if [word] == values.get("verdict")]
    if not words:
        return name, None, None, "no verdict"
    seconds = annotation.get("lead_time")
    times = [time for time in (annotation.get("created_at"), annotation.get("updated_at")) if isinstance(time, str)]
    first, last = (times[0], times[-1]) if times else (_UNKNOWN_TIME, _UNKNOWN_TIME)
    how = values.get("how", [])
    shared: dict[str, Any] = {"question": id, "content": verdicts.contents[id]}
    answer = Step(action="answer", at=first, own=_own(values.get("own", [])), blind="answered blind" in how, **shared)
    verdict = Step(
        action="verdict", at=last, verdict=words[0], note=" ".join(" ".join(values.get("note", [])).split())[:MAX_NOTE],
        evidence="looked at the evidence" in how, third="third pass" in how,
        seconds=seconds if type(seconds) in (int, float) else None, **shared,
    )  # fmt: skip
    return name, answer, verdict, ""


def _values(result: list[Any]) -> dict[str, list[str]]:
    """Values by the name of the control; text may be one string or a list."""
    found: dict[str, list[str]] = {}
    for region in result:
        value = region.get("value") if isinstance(region, dict) else None
        if not isinstance(value, dict):
            continue
        words = value.get("choices", value.get("text", []))
        words = [words] if isinstance(words, str) else words
        if isinstance(words, list):
            found.setdefault(str(region.get("from_name")), []).extend(str(word) for word in words)
    return found


def _annotator(values: Mapping[str, list[str]], completed_by: Any) -> str:
    """The exported name; else the user: the part of the e-mail address before @, or the number."""
    if values.get("annotator"):
        return values["annotator"][0].strip()
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    name = str(completed_by).partition("@")[0] if completed_by is not None else ""
    return f"user-{name}" if name.isdecimal() else name


def _own(texts: list[str]) -> Json:
    """As exported, or as typed."""
    text = " ".join(texts).strip()
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
