"""What the commands take: each option once, with its help; groups of them become the objects that functions take."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    import spatial_engine.annotation.model_options
    import spatial_engine.sources

Videos = Annotated[Path, typer.Argument(help="A video, a folder of images, or a folder of such.")]
StoreOut = Annotated[Path, typer.Option("-o", "--out", help="Store to write; a second run does only what is missing.")]
Out = Annotated[Path, typer.Option("-o", "--out", help="Folder to write.")]
MaxSide = Annotated[int, typer.Option(help="Experts see frames whose longer side is at most this, in pixels.")]
MaxKeyframes = Annotated[int, typer.Option(help="Frames in the joint camera estimate, at most.")]
Start = Annotated[float | None, typer.Option(help="Leave out footage before this, in seconds.")]
End = Annotated[float | None, typer.Option(help="Leave out footage from this on, in seconds.")]
Fps = Annotated[float | None, typer.Option(help="Rate of image folders; videos are thinned to at most this.")]
Images = Annotated[str | None, typer.Option(help='Which images are frames, as a pattern: "*.jpg".')]
Camera = Annotated[str | None, typer.Option("--intrinsics", metavar="FX,FY,CX,CY", help="The camera, in pixels.")]
Upright = Annotated[bool, typer.Option("--upright", help="Roll and pitch of most frames lie within 45 degrees.")]
Licence = Annotated[str, typer.Option(metavar="TEXT", help="Licence of the footage; stands in every question.")]
Experts = Annotated[str | None, typer.Option(metavar="A,B", help="Run these experts instead of those without weights.")]
Plan = Annotated[bool, typer.Option("--plan", help="Print experts, licences, cost, what is missing; run nothing.")]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Run failed experts again.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes; one clip at a time each.")]
Seed = Annotated[int, typer.Option(help="Of everything that is drawn by chance.")]
Abilities = Annotated[str | None, typer.Option(metavar="L1,...", help="Levels, branches or leaves to ask about.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=1.0, help="Least probability of being right to be asked.")]
Unanswerable = Annotated[bool, typer.Option("--unanswerable", help="Also ask what the images shown cannot tell.")]
SigmaCalibration = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Maps of sigma that calibrate wrote; by default our own.")
]
WeightsDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of weight files; see: weights list.")]
RandomWeights = Annotated[bool, typer.Option("--random-weights", help="Draw weights by chance, to try the code.")]
Device = Annotated[str, typer.Option(help="Where models run: auto, cpu, cuda, cuda:1.")]
Dtype = Annotated[
    Literal["float32", "float16", "bfloat16"] | None, typer.Option(help="Their precision; by default the device's.")
]
AllowNoncommercial = Annotated[
    bool, typer.Option("--allow-noncommercial", help="Allow code and weights that forbid commercial use.")
]

PosePath = Annotated[Path | None, typer.Argument(metavar="PATH", help="A file of camera poses, or its folder.")]
Format = Annotated[str, typer.Option("--format", help="auto, tum, kitti, euroc, colmap (images.txt), nerfstudio.")]
Direction = Annotated[Literal["c2w", "w2c"] | None, typer.Option(help="Camera to world, or world to camera.")]
Axes = Annotated[Literal["opencv", "opengl"] | None, typer.Option(help="Axes of the camera; by default the format's.")]
Scale = Annotated[
    Literal["metric", "relative"] | None,
    typer.Option(help="By default metric for tum, kitti, euroc, relative for colmap, nerfstudio."),
]
Up = Annotated[str | None, typer.Option(metavar="X,Y,Z", help="The sky's direction in the world; levels the reading.")]
PoseRate = Annotated[float | None, typer.Option("--fps", help="Poses a second, where the file has no times.")]
Times = Annotated[Path | None, typer.Option(help="File with one time a line, in seconds, where the poses have none.")]
Mount = Annotated[
    Path | None,
    typer.Option("--cam-from-body", help="Poses are a body's; its camera: 4x4 text, or a sensor.yaml with T_BS."),
]
DropDuplicates = Annotated[
    bool, typer.Option("--drop-duplicates", help="Keep the first of several poses with the same time.")
]
MinDuration = Annotated[
    float | None, typer.Option(min=0.0, metavar="S", help="Ignore shorter motions and pauses; by default 0.5 seconds.")
]
MaxSteps = Annotated[int, typer.Option(min=2, max=1_000_000, help="Most steps of one action.")]
UnitSeed = Annotated[int, typer.Option("--seed", min=0, help="Draws the size of a step.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Plot = Annotated[Path | None, typer.Option(metavar="OUT.png|OUT.svg|OUT.html", help="Draw the path and its actions.")]
Replay = Annotated[
    Path | None,
    typer.Option(
        metavar="PLAN.json", help="Follow a plan that --json printed, from PATH's first pose or the identity."
    ),
]


@dataclass(frozen=True)
class Opening:
    """How clips are opened."""

    max_side: MaxSide = 960
    max_keyframes: MaxKeyframes = 60
    start: Start = None
    end: End = None
    fps: Fps = None
    intrinsics: Camera = None
    upright: Upright = False
    licence: Licence = "unknown"

    def options(self) -> "spatial_engine.sources.OpenOptions":
        """The same for the pipeline. Raises `UsageError`."""
        from spatial_engine.sources import OpenOptions

        return OpenOptions(
            max_side_px=self.max_side, max_keyframes=self.max_keyframes, start_s=self.start, end_s=self.end,
            fps=self.fps, intrinsics=None if self.intrinsics is None else _camera(self.intrinsics),
            upright=self.upright, licence=self.licence,
        )  # fmt: skip


@dataclass(frozen=True)
class Asking:
    """What is asked."""

    abilities: Abilities = None
    min_confidence: Confidence = 0.99
    unanswerable: Unanswerable = False
    sigma_calibration: SigmaCalibration = None
    seed: Seed = 0

    def given(self) -> dict[str, Any]:
        """The same as arguments of the pipeline. Raises `UsageError`."""
        return {**vars(self), "abilities": names(self.abilities)}


@dataclass(frozen=True)
class Models:
    """How experts with models are loaded."""

    weights_dir: WeightsDir = None
    random_weights: RandomWeights = False
    device: Device = "auto"
    dtype: Dtype = None
    allow_noncommercial: AllowNoncommercial = False

    def model_options(self) -> "spatial_engine.annotation.model_options.ModelOptions":
        """The same for the pipeline. Raises `UsageError`."""
        from spatial_engine.annotation.model_options import ModelOptions
        from spatial_engine.errors import UsageError

        if self.random_weights and self.weights_dir is not None:
            raise UsageError("--weights-dir and --random-weights", "leave one of them out")
        if self.weights_dir is not None and self.weights_dir.is_file():
            raise UsageError(
                f"--weights-dir {self.weights_dir}: no such folder", "spatial-engine weights fetch makes it"
            )
        folder = None if self.weights_dir is None else str(self.weights_dir)
        return ModelOptions(
            weights="random" if self.random_weights else folder, device=self.device, dtype=self.dtype,
            allow_noncommercial=self.allow_noncommercial,
        )  # fmt: skip


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass here spelt out as one option per field."""
    taken = inspect.signature(command).parameters
    groups: dict[str, Any] = {name: p.annotation for name, p in taken.items() if is_dataclass(p.annotation)}
    spelt = {
        name: [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, annotation=f.type, default=f.default)
            for f in fields(groups[name])
        ]
        if name in groups
        else [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        for name, parameter in taken.items()
    }

    def spread(**given: Any) -> None:
        built = {name: group(**{f.name: given.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        command(**given, **built)

    spread.__name__, spread.__doc__ = command.__name__, command.__doc__
    spread.__signature__ = inspect.Signature([p for several in spelt.values() for p in several])  # type: ignore[attr-defined]
    spread.__annotations__ = {}
    return spread


def _camera(text: str) -> tuple[float, float, float, float]:
    from spatial_engine.errors import UsageError

    try:
        fx, fy, cx, cy = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--intrinsics {text}", "give four numbers in pixels: --intrinsics FX,FY,CX,CY") from error
    return fx, fy, cx, cy


def names(text: str | None) -> list[str] | None:
    """The words of "a,b". Raises `UsageError` if there is none."""
    from spatial_engine.errors import UsageError

    words = None if text is None else [name.strip() for name in text.split(",") if name.strip()]
    if words == []:
        raise UsageError(f"{text!r} names nothing", "leave the option out to take all")
    return words
