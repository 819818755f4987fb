"""The option that a reply chooses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spatial_engine.scoring.reading.conclusion import conclusion, marked, plain
from spatial_engine.scoring.reading.cues import NOT, NOT_BUT, VERDICT, WRONG, cues_from, is_stated
from spatial_engine.scoring.reading.mentions import declines, line_start, mentions, named, reason_follows
from spatial_engine.scoring.reading.options import Choice, Options, ends_at, narrow, options_of
from spatial_engine.scoring.reading.reading import Reading, Unreadable
from spatial_engine.scoring.reading.yes_no import read_yes_no

_MARKS = " \t\n\r.,;:!?()[]{}*_\"'`"
_LONGEST_LINE = 400
_JOINED = re.compile(r"[\s$,/&]*(?:and|or)?[\s$]*")
_REPLY = re.compile(r"^(?P<question>\W{0,9}Q(?:uestion)?\s?:[^\n]*\n\W{0,9})A(?=\s?:)", re.MULTILINE)
"""In "Q: which one?", then "A: B", A is no option."""
_SENTENCE_END = re.compile(r"[.!?]\s|\n|$")


@dataclass(frozen=True)
class _Event:
    """A place of the text where an option is named as the answer, or an answer is declined."""

    place: int
    choice: Choice
    tagged: bool = False


def read_choice(response: str, options: Sequence[str]) -> Reading | Unreadable:
    """The letter ("A" is the first option) of the option that the reply chooses.

    Tags and boxes count first, then the last statement of an answer ("the answer is", a line of its own, "... is
    correct"), then the only option that is named at all. Options may carry their letter ("A. chair") or not.
    """
    known = options_of(tuple(options))
    if len(response) < 8 and (letter := response.strip(_MARKS)) and len(letter) == 1 and letter in known.letters:
        return Reading(value=letter, how="rules")
    text = narrow(conclusion(response))
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    text = _REPLY.sub(r"\g<question>Answer", text)
    event = _concluded(text, known) or _event(named(text, known))
    if (event is None or event.choice == "ambiguous") and set(known.letter_of) == {"yes", "no"}:
        worded = read_yes_no(text)
        event = _Event(0, known.letter_of[str(worded.value)]) if isinstance(worded, Reading) else event
    if event is None or event.choice == "no option":
        return Unreadable(reason="refused" if event is None and declines(text, known) else "nothing found")
    if event.choice == "refused" or (event.choice == "ambiguous" and declines(text, known)):
        return Unreadable(reason="refused")
    if event.choice == "ambiguous":
        return Unreadable(reason="ambiguous")
    return Reading(value=event.choice, how="tags" if event.tagged else "rules")


def _event(choice: Choice | None) -> _Event | None:
    return None if choice is None else _Event(0, choice)


def _concluded(text: str, options: Options) -> _Event | None:
    """The last place where the text states a choice."""
    tagged = _tagged(text, options)
    if tagged:
        corrections = _stated(text, options, tagged.place, corrections_only=True)
        return max([tagged, *corrections], key=lambda event: event.place)
    events = [*_stated(text, options), *_verdicts(text, options), *_lone_lines(text, options)]
    if not events:
        return None
    last = max(events, key=lambda event: event.place)
    withdrawals = [cue for cue in cues_from(text, last.place) if cue["correction"]]
    if withdrawals and declines(_sentence(text, withdrawals[-1].end()), options):
        return _Event(withdrawals[-1].start(), "refused")
    return last


def _tagged(text: str, options: Options) -> _Event | None:
    """The choice in the last tag or box that holds one; its place is the end of the tag."""
    last: _Event | None = None
    for mark in marked(text):
        event = _inside(plain(mark.text), options)
        if event is None:
            continue
        between = text[last.place : mark.start] if last else ""
        both = last and last.choice != event.choice and between.strip(" $\n") and _JOINED.fullmatch(between)
        last = _Event(mark.end, "ambiguous" if both else event.choice, tagged=True)
    return last


def _inside(text: str, options: Options) -> _Event | None:
    """The choice in the contents of a tag."""
    choice = options.choice_at(text, 0)
    if choice:
        return _Event(0, choice[0])
    return _concluded(text, options) or _event(named(text, options))


def _stated(text: str, options: Options, start: int = 0, corrections_only: bool = False) -> Iterator[_Event]:
    """Choices that follow words such as "the answer is", from `start` on."""
    for cue in cues_from(text, start):
        if cue["correction"] is None and (corrections_only or not is_stated(text, cue.start())):
            continue
        swapped = NOT_BUT.match(text, cue.end())
        place = swapped.end() if swapped else cue.end()
        if NOT.match(text, place):
            continue
        choice = options.choice_at(text, place)
        if choice:
            if _is_meant(text, choice, firm=cue["firm"] is not None):
                quoted = cue["firm"] is not None and text[max(0, cue.start() - 1) : cue.start()] in ('"', "'")
                yield _Event(cue.start(), choice[0], tagged=quoted)
        elif "answer" in (cue["firm"] or "").lower() and declines(_sentence(text, place), options):
            yield _Event(cue.start(), "refused")


def _is_meant(text: str, choice: tuple[Choice, int], firm: bool) -> bool:
    """Whether a choice is neither part of a question nor called wrong. After weak words ("so") the sentence must end
    with it, or continue with a reason."""
    what, end = choice
    if text[end : end + 3].strip(" )*\"'").startswith("?") or WRONG.match(text, end):
        return False
    return firm or len(what) > 1 or ends_at(text, end) or reason_follows(text, end)


def _verdicts(text: str, options: Options) -> Iterator[_Event]:
    """ "(C) is right", "B is the answer", "the table is correct"."""
    for one in mentions(text, options):
        verdict = VERDICT.match(text, one.end)
        if verdict is None or not is_stated(text, one.start, reach=40):
            continue
        supposed = "would" in verdict[0] and declines(_sentence(text, verdict.end()), options)
        yield _Event(one.start, "refused" if supposed else one.letter)


def _lone_lines(text: str, options: Options) -> list[_Event]:
    """Lines that hold an option and nothing else. A list of several options is no answer."""
    found: list[_Event] = []
    for line in re.finditer(r"[^\n]+", text):
        if line.end() - line.start() > _LONGEST_LINE:
            continue
        start = line_start(text, line.start())
        choice = options.letter_at(text, start) or options.text_at(text, start)
        if choice and not text[choice[1] : line.end()].strip(_MARKS + "$”’»】}。|-"):
            found.append(_Event(line.start(), choice[0] if choice[0] in options.letters else "no option"))
    return found if len({event.choice for event in found}) == 1 else []


def _sentence(text: str, place: int) -> str:
    end = _SENTENCE_END.search(text, place + 1)
    return text[place : min(end.start() if end else len(text), place + _LONGEST_LINE)]
