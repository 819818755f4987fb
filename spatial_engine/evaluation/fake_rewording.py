"""What the fake model says where it is asked to reword a question, or which question a rewording asks."""

import json
import re
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Literal

Rewriter = Literal["rephraser", "liar", "babbler"]
"""One that rewords faithfully; one that plants a change; one that replies with markup or in another language."""

_QUESTION = re.compile(r"<question>\n(.*)\n</question>", re.DOTALL)
_REWORDED = re.compile(r"<reworded>\n(.*)\n</reworded>\n\n<questions>\n(.*)\n</questions>", re.DOTALL)
_LETTERED = re.compile(r"^([A-Z])\. (.*)$", re.MULTILINE)
_OPENINGS = (
    "Please answer this: {}", "Here is the task. {}", "Take a moment, then reply. {}", "{} Judge by what you see.",
    "Consider this carefully: {}", "{} Give your best judgement.", "A question for you: {}", "Look well. {}",
)  # fmt: skip
_LIES = (
    (r"\bleft\b", "right"), (r"\bright\b", "left"), (r"\b(?:closer|nearer)\b", "farther"), (r"\bfarther\b", "closer"),
    (r"\bmetres\b", "centimetres"), (r"\bdegrees\b", "radians"), (r"\bphoto 1\b", "photo 2"), (r"\bbox 1\b", "box 2"),
    (r"\bpoint P\b", "point Q"), (r"\bfrom the camera\b", ""), (r"\b(is|are|does|was)\b", r"\1 not"),
    (r"\d+(?=°)", "77"), (r"\b(has|have|do|can)\b", r"\1 never"), (r"\bWhich\b", "Never mind which"),
)  # fmt: skip
_BABBLE = (
    '{"prompt": "**%s**"}', '{"prompt": "Quelle est la réponse à cette question ?"}', "```\n%s", '{"prompt": 1}',
)  # fmt: skip


def fake_rewording(behaviour: str, request: str) -> str | None:
    """The reply to a request for a rewording or for a second reading; None for other requests, and where the model is
    none that rewords."""
    if found := _REWORDED.search(request):
        return _closest(found[1], {text: letter for letter, text in _LETTERED.findall(found[2])})
    asked = _QUESTION.search(request)
    if asked is None or behaviour not in ("rephraser", "liar", "babbler"):
        return None
    place = int(sha256(request.encode("utf-8", "replace")).hexdigest()[:8], 16)
    if behaviour == "babbler":
        return _BABBLE[place % len(_BABBLE)].replace("%s", asked[1])
    said = asked[1] if behaviour == "rephraser" else _lied(asked[1], place)
    return json.dumps({"prompt": _OPENINGS[place % len(_OPENINGS)].format(said)}, ensure_ascii=False)


def _lied(prompt: str, place: int) -> str:
    """The prompt with one change."""
    lies = [text for pattern, other in _LIES if (text := re.sub(pattern, other, prompt, count=1)) != prompt]
    return lies[place % len(lies)] if lies else f"{prompt} Answer for the opposite direction."


def _closest(reworded: str, letters: dict[str, str]) -> str:
    """The letter of the text that is most like a rewording."""
    words = reworded.split()
    return letters[max(letters, key=lambda text: SequenceMatcher(None, words, text.split()).ratio())]
