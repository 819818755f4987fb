"""Templates by name, loaded on demand. Third parties add theirs as entry points `spatial_engine.templates`."""

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches

from experts.registry import Registry
from experts.signals import SIGNAL_TYPES
from templates.ability import LEAVES
from templates.answers.registry import FORMATS
from templates.template import Template

TEMPLATES = Registry(
    "spatial_engine.templates",
    {
        "range_ratio": "templates.perception.geometry:RangeRatio",
        "range_metres": "templates.perception.geometry:RangeMetres",
        "depth_order": "templates.perception.depth_queries:DepthOrder",
        "depth_at": "templates.perception.depth_queries:DepthAt",
        "depths_at_once": "templates.perception.depth_queries:DepthsAtOnce",
        "closest_object": "templates.perception.object_distance:ClosestObject",
        "object_gap": "templates.perception.object_gap:ObjectGap",
        "nearest_object": "templates.perception.object_gap:NearestObject",
        "wider_object": "templates.perception.object_size:WiderObject",
        "object_size": "templates.perception.object_extent:ObjectSize",
        "object_volume": "templates.perception.object_extent:ObjectVolume",
        "fits": "templates.perception.fits:Fits",
        "which_fits": "templates.perception.fits:WhichFits",
        "longer_segment": "templates.perception.longer_segment:LongerSegment",
        "parallel_lines": "templates.perception.parallel_lines:ParallelLines",
        "corner_angle": "templates.perception.corner_angle:CornerAngle",
        "edge_line": "templates.perception.edge_line:EdgeLine",
        "primitive_of": "templates.perception.primitive_of:PrimitiveOf",
        "count_in_photo": "templates.perception.object_count:CountInPhoto",
        "object_there": "templates.perception.object_presence:ObjectThere",
        "object_box": "templates.perception.object_box:ObjectBox",
        "point_to_object": "templates.perception.object_pointing:PointToObject",
        "point_to_described": "templates.perception.described_object:PointToDescribed",
        "which_box": "templates.perception.which_box:WhichBox",
        "mark_at_place": "templates.perception.marked_place:MarkAtPlace",
        "place_in_camera": "templates.perception.place_in_camera:PlaceInCamera",
        "camera_tilt": "templates.perception.orientation:CameraTilt",
        "roll_side": "templates.perception.upright:RollSide",
        "tilt_order": "templates.perception.upright:TiltOrder",
        "horizon_line": "templates.perception.horizon:HorizonLine",
        "up_arrow": "templates.perception.horizon:UpArrow",
        "camera_turn": "templates.perception.ego_motion:CameraTurn",
        "camera_travel": "templates.perception.ego_motion:CameraTravel",
        "object_direction": "templates.perception.object_motion:ObjectDirection",
        "comes_or_goes": "templates.perception.comes_or_goes:ComesOrGoes",
        "object_turns": "templates.perception.object_turns:ObjectTurns",
        "faster_object": "templates.perception.object_speed:FasterObject",
        "object_speed": "templates.perception.object_speed:ObjectSpeed",
        "camera_speed": "templates.perception.camera_speed:CameraSpeed",
        "faster_camera": "templates.perception.camera_speed:FasterCamera",
        "how_it_moves": "templates.perception.how_it_moves:HowItMoves",
        "camera_zoom": "templates.perception.camera_zoom:CameraZoom",
        "heading_point": "templates.perception.heading:HeadingPoint",
        "camera_moves": "templates.perception.ego_motion:CameraMoves",
        "point_moves": "templates.perception.allo_motion:PointMoves",
        "which_moves": "templates.perception.allo_motion:WhichMoves",
        "object_faces": "templates.perception.object_facing:ObjectFaces",
        "object_angles": "templates.perception.object_axes:ObjectAngles",
        "object_tilt": "templates.perception.object_axes:ObjectTilt",
        "beside_facing": "templates.perception.beside_facing:BesideFacing",
        "same_way": "templates.perception.same_way:SameWay",
        "same_point": "templates.perception.same_point:SamePoint",
        "same_point_on_grid": "templates.perception.same_point_on_grid:SamePointOnGrid",
        "point_pairs": "templates.perception.point_pairs:PointPairs",
        "photo_of_point": "templates.perception.photo_of_point:PhotoOfPoint",
        "same_object": "templates.perception.same_object:SameObject",
        "place_direction": "templates.perception.relation:PlaceDirection",
        "point_from_photo": "templates.perception.seen_from:PointFromPhoto",
        "object_from_photo": "templates.perception.seen_from:ObjectFromPhoto",
        "side_of": "templates.perception.side_of:SideOf",
        "topology": "templates.perception.topology:Topology",
        "higher_point": "templates.perception.point_height:HigherPoint",
        "path_map": "templates.mapping.memory:PathMap",
        "map_direction": "templates.mapping.map_direction:MapDirection",
        "map_json": "templates.mapping.map_json:MapJson",
        "which_room_map": "templates.mapping.which_room_map:WhichRoomMap",
        "room_area": "templates.mapping.room_area:RoomArea",
        "where_on_map": "templates.mapping.place_on_map:WhereOnMap",
        "view_from": "templates.mapping.place_on_map:ViewFrom",
        "how_many": "templates.mapping.how_many:HowMany",
        "first_seen": "templates.mapping.first_seen:FirstSeen",
        "last_seen": "templates.mapping.first_seen:LastSeen",
        "stood_beside": "templates.mapping.stood_beside:StoodBeside",
        "which_photo": "templates.mapping.which_photo:WhichPhoto",
        "place_again": "templates.mapping.place_again:PlaceAgain",
        "what_moved": "templates.mapping.what_moved:WhatMoved",
        "afford_parts": "templates.mapping.afford_parts:AffordParts",
        "afford_point": "templates.mapping.afford_point:AffordPoint",
        "body_fit": "templates.mapping.body_fit:BodyFit",
        "walk_between": "templates.mapping.walk_between:WalkBetween",
        "seat_height": "templates.mapping.seat_height:SeatHeight",
        "camera_story": "templates.mapping.camera_story:CameraStory",
        "camera_statement": "templates.mapping.camera_statement:CameraStatement",
        "camera_caption": "templates.mapping.camera_caption:CameraCaption",
        "camera_manner": "templates.mapping.camera_manner:CameraManner",
        "what_happens": "templates.mapping.what_happens:WhatHappens",
        "afford_mark": "templates.mapping.afford_mark:AffordMark",
        "use_of": "templates.mapping.use_of:UseOf",
        "which_stands": "templates.mapping.which_stands:WhichStands",
        "true_statement": "templates.mapping.true_statement:TrueStatement",
        "moves_along": "templates.mapping.moves_along:MovesAlong",
        "relation_of": "templates.mapping.relation_of:RelationOf",
        "from_place": "templates.mapping.from_place:FromPlace",
        "from_object": "templates.mapping.from_object:FromObject",
        "count_on_side": "templates.mapping.count_on_side:CountOnSide",
        "can_see": "templates.mapping.can_see:CanSee",
        "which_can_see": "templates.mapping.which_can_see:WhichCanSee",
        "true_caption": "templates.mapping.true_caption:TrueCaption",
        "captioned_photo": "templates.mapping.captioned_photo:CaptionedPhoto",
        "caption_gap": "templates.mapping.true_caption:CaptionGap",
        "scene_caption": "templates.mapping.scene_caption:SceneCaption",
        "paper_fold": "templates.simulation.puzzles.paper_fold:PaperFold",
        "cube_net": "templates.simulation.puzzles.cube_net:CubeNet",
        "turned_shape": "templates.simulation.puzzles.mental_turn:TurnedShape",
        "turned_solid": "templates.simulation.puzzles.mental_turn:TurnedSolid",
        "stack_view": "templates.simulation.puzzles.stacks:StackView",
        "stack_count": "templates.simulation.puzzles.stacks:StackCount",
        "assembly": "templates.simulation.puzzles.assembly:Assembly",
        "speed_if": "templates.simulation.speed_if:SpeedIf",
        "stands_or_falls": "templates.simulation.puzzles.stands_or_falls:StandsOrFalls",
        "cross_section": "templates.simulation.puzzles.cross_section:CrossSection",
        "view_if": "templates.simulation.view_if:ViewIf",
        "meets_first": "templates.simulation.meets_first:MeetsFirst",
        "where_next": "templates.simulation.where_next:WhereNext",
        "time_to_contact": "templates.simulation.time_to_contact:TimeToContact",
        "cube_moves": "templates.simulation.puzzles.cube_moves:CubeMoves",
        "fewest_moves": "templates.simulation.puzzles.fewest_moves:FewestMoves",
        "moves_order": "templates.simulation.puzzles.moves_order:MovesOrder",
        "beyond_frame": "templates.simulation.beyond_frame:BeyondFrame",
        "behind_it": "templates.simulation.behind_it:BehindIt",
        "relation_across": "templates.simulation.relation_across:RelationAcross",
        "point_beyond": "templates.simulation.point_beyond:PointBeyond",
        "route_order": "templates.simulation.route:RouteOrder",
        "route_blanks": "templates.simulation.route_blanks:RouteBlanks",
        "route_on_map": "templates.simulation.route_on_map:RouteOnMap",
        "where_it_ends": "templates.simulation.where_it_ends:WhereItEnds",
        "order_forward": "templates.simulation.order_forward:OrderForward",
        "next_step": "templates.simulation.progress.next_step:NextStep",
        "missing_step": "templates.simulation.progress.missing_step:MissingStep",
        "state_order": "templates.simulation.progress.state_order:StateOrder",
        "progress_pair": "templates.simulation.progress.progress_pair:ProgressPair",
        "most_progress": "templates.agent.self_goaling.most_progress:MostProgress",
        "done_yet": "templates.agent.self_goaling.done_yet:DoneYet",
        "steps_and_done": "templates.agent.self_goaling.steps_and_done:StepsAndDone",
        "goal_here": "templates.agent.self_goaling.goal_here:GoalHere",
        "navigate": "templates.agent.navigation:Navigate",
        "navigate_legs": "templates.agent.navigate_legs:NavigateLegs",
        "first_move": "templates.agent.first_move:FirstMove",
        "goal_reached": "templates.agent.goal_reached:GoalReached",
        "arm_plan": "templates.agent.arm_plan:PlanArm",
        "which_arm_plan": "templates.agent.which_arm_plan:WhichArmPlan",
        "arm_vectors": "templates.agent.arm_vectors:ArmVectors",
        "goal_in_words": "templates.agent.goal_in_words:GoalInWords",
        "arm_next": "templates.agent.arm_next:ArmNext",
        "gripper_when": "templates.agent.gripper_when:GripperWhen",
        "hand_does": "templates.agent.hand_does:HandDoes",
        "where_to_look": "templates.agent.where_to_look:WhereToLook",
        "best_view": "templates.agent.best_view:BestView",
        "enough_seen": "templates.agent.enough_seen:EnoughSeen",
    },
)
"""All templates, in the order of the tree."""


def create_templates(abilities: Sequence[str] = (), *, unanswerable: bool = False) -> dict[str, Template]:
    """Templates by name. A plug-in that cannot be used is left out with a `PluginWarning`.

    Args:
        abilities: nodes of the ability tree whose templates are kept: a level, a branch or a leaf, by its path or the
            end of its path ("L1", "Motion", "L1/Motion", "Gravity"), in any case.
        unanswerable: templates with this argument also ask questions that the photos do not determine.

    Raises:
        UnknownAbilityError: no template asks about a node of that name, or several nodes have it.
    """
    known: dict[str, Template] = TEMPLATES.load_all(lambda cls: created(cls, unanswerable))
    leaves = sorted({template.ability for template in known.values()})
    nodes = [node_called(name, leaves) for name in abilities] or [""]
    return {n: t for n, t in known.items() if any(f"{t.ability}/".startswith(node) for node in nodes)}


class UnknownAbilityError(LookupError):
    """The name matches no node, or several nodes, of the ability tree; the message lists them."""


def node_called(name: str, leaves: Sequence[str]) -> str:
    """Path of the node called `name`, with a trailing slash. Raises `UnknownAbilityError`."""
    wanted = f"/{name.strip('/').lower()}"
    nodes = dict.fromkeys(
        "/".join(leaf.split("/")[:depth]) for leaf in leaves for depth in range(1, leaf.count("/") + 2)
    )
    found = [node for node in nodes if f"/{node.lower()}".endswith(wanted)]
    exact = [node for node in found if f"/{node.lower()}" == wanted]
    if not found:
        names = {node.rpartition("/")[2].lower(): node for node in reversed(nodes)}
        near = get_close_matches(wanted.rpartition("/")[2], names, n=1)
        hint = f"did you mean {names[near[0]]}? " if near else ""
        raise UnknownAbilityError(f"no template asks about {name!r}; {hint}there are: {', '.join(leaves)}")
    if len(found) > 1 and not exact:
        raise UnknownAbilityError(f"{name!r} names several abilities: {', '.join(found)}")
    return f"{(exact or found)[0]}/"


def licence_of(template: Template) -> str:
    """The licence that the metadata of a template's package state; "unknown" if they do not, or if no installed package
    registers it."""
    if type(template).__module__.partition(".")[0] == "templates":
        return "Apache-2.0"
    package = TEMPLATES.distribution_of(type(template))
    keys = ("License-Expression", "License") if package else ()
    stated = next((package.metadata[key] for key in keys if package and key in package.metadata), "")
    first_line = stated.strip().partition("\n")[0]
    return "unknown" if first_line.lower() in ("", "unknown") else first_line


_DECLARED = ("name", "version", "ability", "formats", "facts", "needs", "reads")


def created(cls: type, unanswerable: bool = False) -> Template:
    """A template of the class, with its declarations checked. Raises `TypeError` for a class that is no template or is
    unfinished, and `ValueError` for an ability, a signal or a format that does not exist."""
    if not (isinstance(cls, type) and issubclass(cls, Template)):
        raise TypeError(f"{cls!r} is not a template: derive it from templates.template.Template")
    if lacking := sorted(cls.__abstractmethods__):
        raise TypeError(f"{cls.__qualname__} lacks the methods {', '.join(lacking)}")
    takes_it = is_dataclass(cls) and "unanswerable" in {field.name for field in fields(cls)}
    template = cls(unanswerable=unanswerable) if takes_it else cls()  # type: ignore[call-arg]
    if lacking := [name for name in _DECLARED if not hasattr(template, name)]:
        raise TypeError(f"{cls.__qualname__} lacks {', '.join(lacking)} (templates.template.Template describes each)")
    _known("ability", [template.ability], LEAVES)
    if others := set(template.formats) - FORMATS.builtin.keys():
        _known("formats", sorted(others), list(FORMATS.targets()))
    _known("needs or reads", sorted(template.needs | template.reads), list(SIGNAL_TYPES))
    return template


def _known(what: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Raises `ValueError` for the first name that does not exist."""
    for name in names:
        if name not in known:
            nearest = get_close_matches(name, known, 3, 0.3) or known
            raise ValueError(f"{what} names {name!r}, which does not exist; nearest: {', '.join(nearest)}")
