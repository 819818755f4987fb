"""Serves the page to one annotator: on this machine only, at a secret address, until Ctrl-C."""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hmac import compare_digest
from importlib.resources import files
from pathlib import Path
from typing import Any

from spatial_engine.adjudication.agreement import disagreements, fold_in
from spatial_engine.adjudication.session import Clock, OutOfStep, Session
from spatial_engine.adjudication.showing import PICTURES, picture_file
from spatial_engine.adjudication.steps import holding
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.loopback import HOST, LoopbackHandler, LoopbackServer
from spatial_engine.options import AdjudicateOptions, chosen, words
from spatial_engine.progress import counted, printable
from templates.columns import Json

_MAX_BODY_BYTES = 1 << 16
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TYPES = {"": "text/html", "style.css": "text/css", "page.js": "text/javascript"}


class AdjudicationServer(LoopbackServer):
    """Serves while its `with` block runs. Raises `UsageError` if the port is taken."""

    def __init__(self, dataset_path: Path, session: Session, *, token: str, port: int = 0) -> None:
        self.dataset_path, self.session, self.token = dataset_path, session, token
        super().__init__(_Handler, port, taken_by="another annotator")
        self.url = f"http://{HOST}:{self.port}/{token}/"


class _Handler(LoopbackHandler):
    server: Any  # whose `owner` is an AdjudicationServer

    def do_GET(self) -> None:  # noqa: N802 - http.server calls it so
        place = self._place()
        if place is None:
            return
        if place in _TYPES:
            self._send(200, _asset(place), f"{_TYPES[place]}; charset=utf-8")
        elif place == "screen":
            self._json(200, self.server.owner.session.screen())
        elif place.startswith("picture/"):
            self._picture(place)
        else:
            self._refuse(404, "no such place")

    def do_POST(self) -> None:  # noqa: N802 - http.server calls it so
        body = self._json_body()
        place = self._place()
        if place is None or body is None:
            return
        session = self.server.owner.session
        actions: Mapping[str, Callable[[Mapping[str, Json]], dict[str, Json]]] = {
            "answer": lambda sent: session.answer(_words(sent, "id"), _words(sent, "text", or_none=True)),
            "verdict": lambda sent: session.judge(_words(sent, "id"), _words(sent, "verdict"), _words(sent, "note")),
            "item": lambda sent: session.write(_words(sent, "id"), sent),
            "evidence": lambda sent: session.evidence(_words(sent, "id")),
            "later": lambda sent: session.postpone(_words(sent, "id")),
            "undo": lambda sent: session.undo(),
        }
        if place not in actions:
            self._refuse(404, "no such place")
            return
        try:
            sent = json.loads(body)
            if not isinstance(sent, dict):
                raise ValueError("not an object")
            self._json(200, actions[place](sent))
        except OutOfStep:
            self._json(409, session.screen())
        except (ValueError, RecursionError) as error:
            self._refuse(422, str(error))
        except OSError as error:
            self._refuse(500, f"not saved: {error.strerror or error}")

    def _place(self) -> str | None:
        """The requested path, after all checks; None if the request is refused. The token stops other users of this
        machine."""
        if refusal := self.foreign():
            self._refuse(403, refusal)
            return None
        token, slash, place = self.path.removeprefix("/").partition("/")
        if slash and compare_digest(token.encode(), self.server.owner.token.encode()):
            return place
        self._refuse(404, "open the whole address that the command printed")
        return None

    def _json_body(self) -> bytes | None:
        """The body of the request; None if it is refused."""
        body = self.body(_MAX_BODY_BYTES)
        if body is None:
            self._refuse(413, "a short body of known length is needed")
        elif self.headers.get_content_type() != "application/json":
            self._refuse(415, "JSON is needed")
            return None
        return body

    def _picture(self, place: str) -> None:
        _, _, rest = place.partition("/")
        id, _, number = rest.partition("/")
        question = self.server.owner.session.questions.get(id)
        known = question is not None and number.isascii() and number.isdecimal() and len(number) < 5
        file = picture_file(self.server.owner.dataset_path, question, int(number)) if question and known else None
        try:
            content = None if file is None else file.read_bytes()
        except OSError:
            content = None
        if file is None or content is None:
            self._refuse(404, "no such picture")
        else:
            self._send(200, content, PICTURES[file.suffix.lower()], "private, max-age=86400")  # shown before it is due

    def _refuse(self, status: int, words: str) -> None:
        self._json(status, {"error": printable(words)})

    def _json(self, status: int, content: Json) -> None:
        self._send(status, json.dumps(content).encode(), "application/json")

    def _send(self, status: int, content: bytes, type: str, caching: str = "no-store") -> None:
        with suppress(OSError):  # it may have hung up
            self.send_response(status)
            own = {"Content-Type": type, "Content-Length": str(len(content)), "Cache-Control": caching}
            for name, value in {**_HEADERS, **own}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)


def _words(said: Mapping[str, Json], name: str, *, or_none: bool = False) -> Any:
    value = said.get(name)
    if isinstance(value, str) or (or_none and value is None):
        return value
    raise ValueError(f"{name} must be text")


@cache
def _asset(place: str) -> bytes:
    html = files("spatial_engine") / "adjudication" / "html"
    if place == "style.css":
        shared = files("spatial_engine") / "report" / "html" / "style.css"  # of all our pages
        return shared.read_bytes() + (html / "page.css").read_bytes()
    return (html / (place or "page.html")).read_bytes()


def system_clock() -> Clock:
    """This machine's."""
    return Clock(now=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), seconds=time.monotonic)


def adjudicate(dataset: str | Path, options: AdjudicateOptions | None = None, **fields: Any) -> None:
    """Prints the address of the page and serves it until Ctrl-C; then writes the summary into the audit and the card.

    `fields`: single fields of `AdjudicateOptions`. With `disagreements` only disputed questions are asked. Raises
    `UsageError`.
    """
    options = chosen(AdjudicateOptions, options, fields)
    annotator, third = options.annotator or "me", options.disagreements
    verdicts = Verdicts(Dataset.open(dataset))
    among = [item.question for item in verdicts.items.values() if item.author != annotator]
    if options.items and not among:
        raise UsageError("nobody else has corrected or written an item", "others press C or W on their page")
    among = among if options.items else [*verdicts.questions.values(), *(among if third else ())]
    questions = verdicts.chosen(leaf=words(options.leaf), sample=options.sample, seed=options.seed, among=among)
    if third:
        disputed = {one.question.id for one in disagreements(verdicts) if annotator not in one.judgements}
        already = verdicts.history(annotator).judgements()
        own = {id for id, one in already.items() if one.verdict is not None and one.verdict.third}
        questions = [question for question in questions if question.id in disputed | own]
        if not disputed & {question.id for question in questions}:
            raise UsageError("nothing left that others disagree on", "see --summary")
    with holding(verdicts.file(annotator)) as file:
        session = Session(questions, verdicts.history(annotator), file, system_clock(), third=third)
        server = AdjudicationServer(verdicts.dataset.path, session, token=secrets.token_urlsafe(16), port=options.port)
        print(f"{annotator}: {counted(len(questions), 'question')}; open {server.url}", flush=True)
        print("Ctrl-C ends it; every key is saved as it is pressed", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve()
        server.close()
    fold_in(verdicts.dataset)
