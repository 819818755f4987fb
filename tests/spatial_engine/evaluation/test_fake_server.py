"""The fake model knows its questions whoever asks, and shows every fault that a server has."""

import io
import json
import shutil
from base64 import b64encode
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from PIL import Image

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import write_questions
from spatial_engine.errors import UsageError
from spatial_engine.evaluation import protocol
from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.evaluation.fake_model import UNKNOWN, FakeModel
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.scoring import own
from templates.question import Question
from tests.spatial_engine.evaluation.chat_server import small_dataset

TWO_OPTIONS = "Which of the marked points is closer to the camera?"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(tmp_path_factory.mktemp("fake"), count=2)


@pytest.fixture(scope="module")
def oracle(dataset: Dataset) -> FakeModel:
    return FakeModel(dataset, "oracle")


def picture(data: bytes) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(data).decode()}"}}


def said(model: FakeModel, content: Any) -> str:
    reply, _ = model.completion({"model": "m", "messages": [{"role": "user", "content": content}]})
    return reply["choices"][0]["message"]["content"]


def files(dataset: Dataset, question: Question) -> list[bytes]:
    return [(dataset.path / entry["path"]).read_bytes() for entry in question.media]


def of_format(dataset: Dataset, template: str, format: str) -> Question:
    return next(q for q in dataset.questions if (q.template, q.format) == (template, format))


def test_every_question_and_rotation_of_the_protocol(dataset: Dataset, oracle: FakeModel) -> None:
    for question in dataset.questions:
        for rotation in range(protocol.rotations(question)):
            shown = protocol.prompt(question, rotation=rotation)
            content = [
                {"type": "text", "text": part}
                if isinstance(part, str)
                else picture((dataset.path / part["path"]).read_bytes())
                for part in shown.parts
            ]
            text = said(oracle, content)
            score = own.score(protocol.rotated(question, rotation), text)
            assert score.value == 1.0 or question.format == "order", (question.template, rotation, text)


def test_other_programs_orders_and_encodings(dataset: Dataset, oracle: FakeModel) -> None:
    question = of_format(dataset, "range_ratio", "choice")
    (data,) = files(dataset, question)
    as_png = io.BytesIO()
    Image.open(io.BytesIO(data)).save(as_png, "PNG")
    right = question.options["AB".index(question.answer)]
    other = next(option for option in question.options if option != right)
    text = f"Look closely.\n{question.text}\n(A) {other}\n(B) {right}\nAnswer with a letter."
    assert own.read(question, said(oracle, [picture(as_png.getvalue()), {"type": "text", "text": text}])).value == "B"
    assert said(oracle, text) == UNKNOWN, "another photo has the same question"
    assert own.read(question, said(FakeModel(dataset, "first-option"), text)).value == "A"


def test_pictures_as_options_by_their_names(dataset: Dataset, oracle: FakeModel) -> None:
    question = of_format(dataset, "path_map", "choice")
    by_id = {entry["id"]: (dataset.path / entry["path"]).read_bytes() for entry in question.media}
    shown = [by_id[entry["id"]] for entry in question.media if not entry.get("option")]
    turned = protocol.rotated(question, 3)
    lines = "\n".join(f"{letter}. picture {len(shown) + 1 + i}" for i, letter in enumerate("ABCD"))
    content = [picture(data) for data in (*shown, *(by_id[option] for option in turned.options))]
    text = said(oracle, [*content, {"type": "text", "text": f"{question.text}\n{lines}"}])
    assert own.read(turned, text).value == turned.answer


def test_the_way_back_shows_the_same_photos_in_the_other_order(dataset: Dataset, tmp_path: Path) -> None:
    there = of_format(dataset, "same_point", "point")
    back = replace(there, id="f" * 16, media=list(reversed(there.media)), answer=[7.0, 9.0])
    copied = Dataset(Path(shutil.copytree(dataset.path, tmp_path / "d")))
    write_questions(copied.path, [*dataset.questions, back])
    model = FakeModel(copied, "oracle")
    for question in (there, back):
        shown = [picture(data) for data in files(copied, question)]
        assert said(model, [*shown, {"type": "text", "text": question.text}]) == oracle_text(question)


def test_questions_that_it_does_not_know(dataset: Dataset, oracle: FakeModel) -> None:
    question = of_format(dataset, "range_ratio", "choice")
    assert said(oracle, "What is the capital of France?") == UNKNOWN
    assert said(oracle, [picture(b"no picture"), {"type": "text", "text": "What is this?"}]) == UNKNOWN
    assert said(oracle, [picture(files(dataset, question)[0]), {"type": "text", "text": "What is this?"}]) == UNKNOWN
    for messages in (None, 3, ["x"]):
        with pytest.raises(ValueError, match="messages must be a list of objects"):
            oracle.completion({"messages": messages})


def test_behaviours(dataset: Dataset) -> None:
    questions = list(dataset.questions)
    values = {
        name: [own.score(question, FakeModel(dataset, name).answer(question)).value for question in questions]
        for name in ("wrong", "flaky", "slow", "first-option", "no-op", "random")
    }
    assert sum(values["wrong"]) == 0.0
    assert values["flaky"] == values["slow"] and sum(values["flaky"]) >= len(questions) - 1
    drawn = [FakeModel(dataset, "random", seed).answer(question) for seed in (1, 1, 2) for question in questions]
    third = len(questions)
    assert drawn[:third] == drawn[third : 2 * third] != drawn[2 * third :]


def ask(server: FakeServer, path: str, body: bytes | None) -> tuple[int, Any, dict[str, str]]:
    place = urlsplit(server.base_url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=5)
    try:
        connection.request("GET" if body is None else "POST", path, body)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read()), dict(reply.headers)
    finally:
        connection.close()


def test_over_http(dataset: Dataset) -> None:
    with FakeServer(dataset, "oracle") as server:
        status, models, _ = ask(server, "/v1/models", None)
        assert status == 200 and models["data"][0]["id"] == "fake-oracle"
        assert ask(server, "/v1/elsewhere", None)[0] == ask(server, "/v1/elsewhere", b"{}")[0] == 404
        for body in (b"", b"no json", b"[1]", b"{}", b"[" * 100_000):
            assert ask(server, "/v1/chat/completions", body)[0] == 400
        unknown = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Who?"}]}).encode()
        status, reply, headers = ask(server, "/v1/chat/completions", unknown)
        assert status == 200 and reply["choices"][0]["message"]["content"] == UNKNOWN
        assert headers["X-Unknown-Question"] == "1" and reply["usage"]["total_tokens"] > 0
        with pytest.raises(UsageError, match="--port 0"):
            FakeServer(dataset, "oracle", port=int(server.base_url.split(":")[2].split("/")[0]))


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Host": "evil.example:{port}"}, {"Origin": "https://evil.example"}, {"Origin": "null"}],
)
def test_requests_from_elsewhere_are_refused(dataset: Dataset, headers: dict[str, str]) -> None:
    """Host: DNS rebinding; Origin: a page of another site."""
    with FakeServer(dataset, "oracle") as server:
        sent = {name: value.format(port=server.port) for name, value in headers.items()}
        for method, path in (("GET", "/v1/models"), ("POST", "/v1/chat/completions")):
            connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
            connection.request(method, path, body=b"{}" if method == "POST" else None, headers=sent)
            assert connection.getresponse().status == 403
            connection.close()
        assert not server.counts


@pytest.mark.parametrize("length", ["9" * 30, "9" * 5000, "-1", "x", "300000000"])
def test_bodies_are_limited(dataset: Dataset, length: str) -> None:
    with FakeServer(dataset, "oracle") as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.putrequest("POST", "/v1/chat/completions")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
