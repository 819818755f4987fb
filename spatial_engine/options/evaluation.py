"""The options of `evaluate`, `score` and `navigate`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked, StrPath
from spatial_engine.options.hints import check_kinds

_TIMEOUT_S = 120.0
_SUCH = "a URL such as http://127.0.0.1:8000/v1"


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(Checked):
    """How a model replies. Raises `UsageError`."""

    temperature: Annotated[
        float | Literal["default"], Doc("Sampling temperature; `default` leaves it to the server.")
    ] = 0.0
    max_tokens: Annotated[int | None, Doc("Longest reply, in tokens; by default the server's limit.")] = None
    reasoning_effort: Annotated[
        str | None, Doc("How long the model thinks, as the server names it: minimal, low, medium, high.")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperature != "default" and not isinstance(self.temperature, int | float):
            raise UsageError(f"--temperature {self.temperature}", "give a number, or default for the server's own")
        at_least_one("max_tokens", self.max_tokens)

    @property
    def parameters(self) -> dict[str, Any]:
        """As the server takes them."""
        temperature = None if self.temperature == "default" else self.temperature
        chosen = {
            "temperature": temperature,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.reasoning_effort,
        }
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class CompletionOptions(SamplingOptions):
    """Which model replies, and how. Raises `UsageError`."""

    model: Annotated[str, Doc("Name of the model, as the server knows it.")]


def at_least_one(name: str, number: int | None) -> None:
    """Raises `UsageError` for an option below 1."""
    if number is not None and number < 1:
        raise UsageError(f"--{name.replace('_', '-')} {number}", "give at least 1")


@dataclass(frozen=True, kw_only=True)
class RequestOptions(CompletionOptions):
    """What a model is asked, and how: all that an answer depends on. Raises `UsageError`."""

    circular: Annotated[bool, Doc("Ask every choice once for each rotation of its options.")] = False
    blind: Annotated[bool, Doc("Show no pictures: the blind baseline, which has the words alone.")] = False
    system_prompt: Annotated[bool, Doc("Put a question's instructions into a system message.")] = False
    system_prompt_file: Annotated[
        StrPath | None, Doc("Text file whose words are the system message, and replace those of this program.")
    ] = None
    hints: Annotated[
        tuple[str, ...], Doc("Low-level cues to add to the question, by name, such as correspondence,depth,size.")
    ] = ()
    hint_pictures: Annotated[
        tuple[str, ...],
        Doc("Hints to show as pictures, by the same names, if `generate --hints` made them."),
    ] = ()
    limit: Annotated[int | None, Doc("Ask only this many questions, drawn at random.")] = None
    seed: Annotated[int, Doc("Seed of the draw of --limit.")] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_kinds((*self.hints, *self.hint_pictures))
        at_least_one("limit", self.limit)
        if self.system_prompt and self.system_prompt_file is not None:
            raise UsageError("--system-prompt with --system-prompt-file", "give one: both are the system message")


@dataclass(frozen=True, kw_only=True)
class NavigationOptions(CompletionOptions):
    """In which rooms a model finds its way, and where to. Raises `UsageError`."""

    goal: Annotated[Literal["photo", "object"], Doc("What the model is given: the photo to take, or what to find.")] = (
        "photo"
    )
    episodes: Annotated[int, Doc("Tasks, each in a room of its own.")] = 20
    seed: Annotated[int, Doc("Seed of rooms and goals.")] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_one("episodes", self.episodes)
        if self.goal not in ("photo", "object"):
            raise UsageError(f"--goal {self.goal}", "give photo or object")


@dataclass(frozen=True, kw_only=True)
class Server(Checked):
    """A chat server that speaks OpenAI's protocol. Nothing here changes an answer. Raises `UsageError`."""

    base_url: Annotated[str, Doc("The server, as http://127.0.0.1:8000/v1: what stands before /chat/completions.")] = ""
    api_key_env: Annotated[str, Doc("Environment variable that holds the server's key.")] = "OPENAI_API_KEY"
    concurrency: Annotated[int, Doc("Requests under way at once.")] = 8
    requests_per_minute: Annotated[float | None, Doc("At most so many requests, retries included.")] = None
    timeout: Annotated[
        float | None,
        Doc(
            "Seconds for one reply, to its last byte; by default 120, of --benchmark 900. A slower answer counts as "
            "wrong, and is reported separately."
        ),
    ] = None
    max_retries: Annotated[
        int, Doc("Retries after 429, 5xx and cut connections, with growing pauses, or as the server asks.")
    ] = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = urlsplit(self.base_url)
        if self.base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise UsageError(f"--base-url {self.base_url!r}", f"give {_SUCH}")
        if "@" in parts.netloc or parts.query:  # it stands in run.json
            cause = f"--base-url at {parts.hostname} holds a password or a query"
            raise UsageError(cause, f"put the key into an environment variable: --api-key-env; give {_SUCH}")
        if self.concurrency < 1 or self.max_retries < 0:
            raise UsageError(
                f"concurrency {self.concurrency}, retries {self.max_retries}",
                "allow one request, and no retry, at least",
            )
        if self.timeout_s <= 0 or (self.requests_per_minute is not None and self.requests_per_minute <= 0):
            raise UsageError("time-outs and rates are positive", "leave the option out for the default")

    @property
    def timeout_s(self) -> float:
        """The time-out, in seconds."""
        return _TIMEOUT_S if self.timeout is None else self.timeout

    def check_address(self) -> None:
        """Raises `UsageError` if there is none to ask at."""
        if not self.base_url:
            raise UsageError("no server is named", f"--base-url takes {_SUCH}; --replay with --cache needs none")


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(Checked):
    """The language model that reads what rules cannot (`spatial_engine.evaluation.judge.Judge.of`)."""

    judge_model: Annotated[str | None, Doc("Language model that finds the answer where rules cannot read it.")] = None
    judge_base_url: Annotated[str | None, Doc("Its server; by default the model's.")] = None
    judge_api_key_env: Annotated[str, Doc("Environment variable that holds its key.")] = "OPENAI_API_KEY"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.judge_model is None and self.judge_base_url is not None:
            raise UsageError("--judge-base-url without a judge", "name the model too: --judge-model NAME")


@dataclass(frozen=True, kw_only=True)
class Prices(Checked):
    """Of a million tokens, in one currency. Raises `UsageError`."""

    price_in: Annotated[float | None, Doc("Price of a million input tokens.")] = None
    price_out: Annotated[float | None, Doc("Price of a million output tokens.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {"--price-in": self.price_in, "--price-out": self.price_out}
        known = [name for name, price in given.items() if price is not None]
        if len(known) == 1:
            (lacking,) = given.keys() - set(known)
            raise UsageError(f"{known[0]} without {lacking}: half of the cost", f"give both; {lacking} 0 if it is free")
        for name, price in given.items():
            if price is not None and price < 0:
                raise UsageError(f"{name} {price:g}", "give 0 or more")

    def amount(self, input_tokens: float, output_tokens: float) -> float | None:
        """What tokens cost; None where no price is known."""
        if self.price_in is None or self.price_out is None:
            return None
        return (self.price_in * input_tokens + self.price_out * output_tokens) / 1e6
