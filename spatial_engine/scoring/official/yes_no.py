"""Yes or no, as lmms-eval's spatialtreebench reads it."""

from typing import Any

from spatial_engine.scoring.official.metric import Result, metric


@metric
def judgemodel(response: Any, answer: Any, extra_info: Any) -> Result:
    """1 if `answer`, in lower case, is the last "yes" or "no" in `response` (inside words too), or "other" for none."""
    truth = answer.lower()
    said = last_yes_or_no(response)
    return {"score": int(said == truth), "details": {"predict": said, "gt": truth}}


def last_yes_or_no(response: Any) -> str:
    """Which of "yes", "no" and "other". Raises AttributeError if `response` is neither text nor empty."""
    text = response.lower() if response else ""
    yes, no = text.rfind("yes"), text.rfind("no")
    if yes == no:  # neither occurs
        return "other"
    return "yes" if yes > no else "no"
