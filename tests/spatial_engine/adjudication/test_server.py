import json
from dataclasses import replace
from pathlib import Path

import pytest

from spatial_engine.adjudication.server import AdjudicationServer
from spatial_engine.errors import UsageError
from tests.spatial_engine.adjudication.sessions import ask, session
from tests.spatial_engine.drafts import NASTY


@pytest.fixture
def served(dataset):
    with AdjudicationServer(dataset.path, session(dataset, sample=4), token="t0ken") as server:
        yield server


def said(reply):
    status, _, content = reply
    return status, json.loads(content)


def test_a_question_goes_through_its_three_states(served):
    status, screen = said(ask(served, "GET", "screen"))
    id = screen["item"]["id"]
    assert status == 200 and screen["recorded"] is None and screen["total"] == 4
    status, screen = said(ask(served, "POST", "answer", {"id": id, "text": None}))
    assert status == 200 and screen["recorded"]["own"] is None
    status, reply = said(ask(served, "POST", "evidence", {"id": id}))
    assert status == 200 and reply["evidence"]["clip"]
    status, screen = said(ask(served, "POST", "verdict", {"id": id, "verdict": "wrong", "note": NASTY}))
    assert status == 200 and screen["done"] == 1 and screen["item"]["id"] != id
    status, screen = said(ask(served, "POST", "undo", {}))
    assert status == 200 and screen["done"] == 0 and screen["item"]["id"] == id
    status, screen = said(ask(served, "POST", "later", {"id": id}))
    assert status == 200 and screen["item"]["id"] != id


def test_a_tab_that_is_behind_gets_the_screen_as_it_is(served):
    _, screen = said(ask(served, "GET", "screen"))
    id = screen["item"]["id"]
    ask(served, "POST", "answer", {"id": id, "text": None})
    assert said(ask(served, "POST", "answer", {"id": id, "text": None}))[0] == 409
    status, screen = said(ask(served, "POST", "verdict", {"id": "another", "verdict": "right", "note": ""}))
    assert status == 409 and screen["item"]["id"] == id


def test_the_page_is_whole_and_has_no_word_of_the_data_set(served):
    for place, type in (("", "text/html"), ("style.css", "text/css"), ("page.js", "text/javascript")):
        status, headers, content = ask(served, "GET", place)
        assert status == 200 and headers["Content-Type"].startswith(type) and content
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
        assert b"innerHTML" not in content and b"insertAdjacentHTML" not in content
    assert b"prefers-color-scheme: dark" in ask(served, "GET", "style.css")[2]


def test_pictures_come_from_the_data_set_alone(served, dataset):
    _, screen = said(ask(served, "GET", "screen"))
    item = screen["item"]
    picture = (item["pictures"] or [option["picture"] for option in item["options"]])[0]
    status, headers, content = ask(served, "GET", f"picture/{item['id']}/{picture['place']}")
    assert status == 200 and headers["Content-Type"] in ("image/jpeg", "image/png") and len(content) > 100
    for place in (f"picture/{item['id']}/999", f"picture/{item['id']}/-1", f"picture/{item['id']}/²", "picture/../0",
                  "picture/", f"picture/{item['id']}/0/../../audit.json", "../audit.json", "audit.json"):  # fmt: skip
        assert ask(served, "GET", place.replace("²", "%C2%B2"))[0] == 404
    question = served.session.questions[item["id"]]
    entry = {**question.media[0], "path": "../d/audit.json"}
    served.session.questions[item["id"]] = replace(question, media=[entry])
    assert ask(served, "GET", f"picture/{item['id']}/0")[0] == 404


def test_other_hosts_and_pages_are_refused(served):
    good = {"Origin": f"http://127.0.0.1:{served.port}", "Sec_Fetch_Site": "same-origin"}
    assert ask(served, "POST", "undo", {}, **good)[0] == 200
    assert ask(served, "GET", "screen", Host=f"localhost:{served.port}")[0] == 200
    for host in (
        "evil.example",
        f"evil.example:{served.port}",
        "127.0.0.1",
        f"127.0.0.1.evil.example:{served.port}",
        "",
    ):
        assert ask(served, "GET", "screen", Host=host)[0] == 403
        assert ask(served, "POST", "undo", {}, Host=host)[0] == 403
    for origin in ("null", "http://evil.example", f"https://127.0.0.1:{served.port}", "http://127.0.0.1:1"):
        assert ask(served, "POST", "undo", {}, Origin=origin)[0] == 403
    assert ask(served, "POST", "undo", {}, Content_Type="text/plain")[0] == 415


def test_requests_without_the_token_are_refused(served):
    for place in ("/", "/screen", "/wrong/screen", "/t0ken", "/t0ke/screen", "/T0KEN/screen", "//screen", "/\xe9/"):
        status, _, content = ask(served, "GET", place.replace("\xe9", "%E9"))
        assert status == 404 and b"item" not in content


def test_hostile_bodies_are_refused(served):
    id = said(ask(served, "GET", "screen"))[1]["item"]["id"]
    for body in (b"", b"{", b"[]", b"\xff", b"[" * 60_000, b'{"id": 3, "text": "a"}', b'{"id": ["x"]}'):
        assert ask(served, "POST", "answer", body)[0] == 422
    assert ask(served, "POST", "answer", {"id": id, "text": "x" * 70_000})[0] == 413
    assert ask(served, "POST", "answer", {"id": id, "text": None}, Content_Length="9" * 30)[0] == 413
    assert ask(served, "POST", "nothing", {})[0] == 404
    assert ask(served, "PUT", "undo", {})[0] == 501
    ask(served, "POST", "answer", {"id": id, "text": None})
    for word in ("", "fine", "right "):
        assert ask(served, "POST", "verdict", {"id": id, "verdict": word, "note": ""})[0] == 422
    assert said(ask(served, "GET", "screen"))[1]["done"] == 0


def test_a_full_disk_is_reported(dataset):
    class Full:
        def append(self, step):
            raise OSError(28, "No space left on device")

    with AdjudicationServer(dataset.path, session(dataset, file=Full()), token="t") as server:
        id = said(ask(server, "GET", "screen"))[1]["item"]["id"]
        status, reply = said(ask(server, "POST", "answer", {"id": id, "text": None}))
        assert status == 500 and "No space left" in reply["error"]


def test_a_taken_port_is_reported(served, dataset):
    with pytest.raises(UsageError, match="--port 0"):
        AdjudicationServer(dataset.path, session(dataset), token="t", port=served.port)


def test_it_listens_on_this_machine_alone(served):
    assert served.url.startswith("http://127.0.0.1:") and served._http.server_address[0] == "127.0.0.1"


def test_two_annotators_at_once(dataset):
    with (
        AdjudicationServer(dataset.path, session(dataset), token="a") as first,
        AdjudicationServer(dataset.path, session(dataset), token="b") as second,
    ):
        id = said(ask(first, "GET", "screen"))[1]["item"]["id"]
        ask(first, "POST", "answer", {"id": id, "text": None})
        assert said(ask(second, "GET", "screen"))[1]["recorded"] is None
        assert ask(second, "GET", "/a/screen")[0] == 404


def test_the_script_names_only_places_that_are_served():
    script = (Path(__file__).parents[3] / "spatial_engine/adjudication/html/page.js").read_text()
    for place in ("screen", "answer", "verdict", "item", "evidence", "later", "undo"):
        assert f'send("{place}"' in script
