"""What a reader returns: the answer and how it was found, or the reason why none was; and how replies decline."""

import re
from dataclasses import dataclass
from typing import Literal

from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class Reading:
    """An answer found in a response."""

    value: Json
    """letter | "yes" / "no" | number | object | [x, y] | list | {"actions": [...], "step_nums": [...]}."""
    how: Literal["tags", "rules"]
    """tags: it stood where an answer was asked for (<answer>, boxed, fenced JSON); rules: found in plain text."""


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """No answer in a response."""

    reason: Literal["empty", "refused", "ambiguous", "nothing found"]
    """refused: the reply says that it cannot or will not answer; ambiguous: it gives several and settles on none."""


_CANNOT = (
    r"(?:can(?:no|['’]?)t|can not|could(?: not|n['’]?t)|(?:am|are|is|was|['’]m) (?:not able|unable)|(?:un|not )able)"
)
_PATTERNS = (
    rf"\b{_CANNOT}(?: to)?(?: \w+ly)? (?:say|tell|see|view|access|open|process|analy[sz]e|determine|decide|answer|"
    r"provide|give|identify|help|assist|infer|estimate|know|find|pick|choose|select|conclude|comment|judge|assess|"
    r"verify|perceive|interpret|measure|compute|calculate|make|confirm|comply|fulfil|continue|do)\b",
    r"\b(?:can ?not|can['’]?t|couldn['’]?t|(?:im|not )possible to|hard to|difficult to) be (?:determined|inferred|"
    r"answered|known|decided|identified|estimated|established|said|told|concluded|measured)\b",
    r"\b(?:impossible|not possible|not feasible) (?:to|for me)\b|\bno way (?:to|of)\b",
    r"\b(?:do|does|did)(?: not|n['’]?t) (?:\w+ )?(?:know|have (?:the |any |enough|sufficient|access)|contain|"
    r"provide enough|give enough|show enough|include enough|appear in)",
    r"\b(?:not enough|insufficient|lack of|no|without (?:enough|sufficient|more|any)|not sufficient|too little) "
    r"(?:\w+ )?(?:information|info|context|data|details?|evidence)\b",
    r"\bnone of (?:the above|these|them|the (?:given |listed |provided |available )?(?:options|choices|answers))",
    r"\b(?:no|neither|none)(?: of the)? (?!other )(?:\w+ )?(?:options?|choices?|answers?)\b[^.\n]{0,40}"
    r"(?:correct|right|fit|match|appl|valid|suitable|accurate|possible|given)",
    r"\bas an? (?:\w+[ -]){0,3}(?:ai|llm|language model|assistant|model)\b",
    r"\bi['’ ]?a?m (?:just |only )?an? (?:ai|llm|(?:large )?language model|text-based)\b",
    r"\b(?:i['’]?m|i am|we['’]?re|so|very) ?(?:\w+ly )?sorry\b|\bi apologi[sz]e\b|\bmy apologies\b",
    r"\b(?:refuse|decline) to\b|\bi (?:will|would|won['’]?t|wo)(?: rather)?(?: not)? (?:not )?(?:answer|guess)\b",
    r"\bi['’]?d (?:rather not|prefer not)\b",
    r"\b(?:unanswerable|undeterminable|indeterminate|undetermined|inconclusive|unknown|not applicable|n/a|no idea|"
    r"not sure|unsure|uncertain|unclear|no clue|no answer|not visible|not provided)\b",
    r"\b(?:please|could you|can you|kindly) (?:\w+ )?(?:provide|upload|share|attach|send|clarify|re-?send|give)\b",
    r"\bno (?:images?|pictures?|photos?|video|frames?)\b",
    r"\bdepends on\b|\bit depends\b",
    r"(?:无法|不能)(?:确定|判断|回答|看到)|不知道|信息不足",
)
_REFUSAL = re.compile("|".join(_PATTERNS), re.IGNORECASE)


def refusal(text: str) -> re.Match[str] | None:
    """The first words that decline to answer. "I cannot be 100 % sure" does not."""
    return _REFUSAL.search(text)
