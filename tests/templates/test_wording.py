"""What the templates say: every sentence, and the file that holds it."""

import re
import string
from pathlib import Path
from statistics import median, quantiles

import pytest

from templates.perception.geometry import RangeRatio
from templates.registry import TEMPLATES
from templates.unanswerable import UNDETERMINED
from templates.wording import Wording, WordingError, read_wordings, wordings

CLASSES = TEMPLATES.load_all()
WORDINGS = {f"{name} {key}": wording for name, cls in CLASSES.items() for key, wording in wordings(cls).items()}
SENTENCES = [prompt for wording in WORDINGS.values() for prompt in wording.prompts]

ORDER = r"\b(order|chronologically|time)\b"
SHORTEST = (r"\bphoto 1\b", r"\b(viewpoints?|each photo)\b", r"\bshort(est)?\b")
DEGREES, METRES, LEVEL = r"\bdegrees\b", r"\bmetres\b", r"\b(level|horizontal|horizon)\b"
ROLL_PITCH = (DEGREES, r"\broll\b", r"\bpitch\b")
BOTH = (r"\bphoto 1\b", r"\bphoto 2\b")
FROM_2 = (r"\bphoto 1\b", r"\b(from|taking|where|camera of|viewpoint of) photo 2\b")
BOXED = (*BOTH, r"\{name\}", r"\b(box|boxed)\b")
FROM_1 = (r"\bphoto 2\b", r"\b(from|taking|where|camera of|viewpoint of) photo 1\b")
FIRST_LAST = (r"\bfirst\b", r"\blast\b", r"\bcamera\b")
MOVES = (r"\bphoto 1\b", r"\b(really|actually|relative to|camera|in the scene)\b", r"\bmov(e|es|ing)\b")
ABOVE, ABOVE_1 = (r"\babove\b", r"\bmaps?\b"), (r"\babove the camera of photo 1\b", r"\bmaps?\b")
ON_FILM = (r"\bvideo\b", r"\bcamera('s)?\b")
NAMED = {
    "range_ratio choice": (r"\bcamera\b", r"\bpoints?\b|\bmarked\b"),
    "range_ratio numeric": (r"\bcamera\b", r"\bpoint 1\b", r"\bpoint 2\b"),
    "range_metres numeric": (r"\bcamera\b", r"\b(point|marked) P\b", METRES),
    "depth_order order": (r"\bcamera\b", r"\bpoints?\b"),
    "depth_order choice": (r"\bcamera\b", r"\bpoints?\b|\bmarked\b"),
    "depth_at numeric": (r"\[\{x\}, \{y\}\]", r"\bmillimetres\b", r"\b(depth|deep)\b"),
    "depths_at_once json": (r"\bcamera\b", r"\bpoints?\b", METRES),
    "longer_segment choice": (r"\blines?\b", r"\b(scene|space|reality)\b"),
    "longer_segment numeric": (r"\bline 1\b|\blines 1\b", r"\bline 2\b|\band 2\b", r"\b(scene|space)\b"),
    "object_gap numeric": (r"\{a\}", r"\{b\}", METRES),
    "nearest_object choice": (r"\{name\}", r"\b(box|boxed)\b"),
    "object_size numeric.height": (r"\b(box|boxed|boxes)\b", r"\bcentimetres\b", r"\b(tall|height|top)\b"),
    "object_size numeric.width": (r"\b(box|boxed|boxes)\b", r"\bcentimetres\b", r"\b(wide|width|horizontal)\b"),
    "fits yes_no": (r"\bobject(s)? 1\b|\bin box 1\b", r"\bP and Q\b", r"\b(between|gap)\b"),
    "which_fits choice": (r"\bP and Q\b", r"\b(between|gap)\b"),
    "object_size choice.height": (r"\b(box|boxed)\b", r"\b(tall|height)\b"),
    "object_size choice.width": (r"\b(box|boxed)\b", r"\b(wide|width)\b"),
    "object_volume order": (r"\bbox(es|ed)?\b", r"\b(volumes?|space)\b"),
    "object_volume choice": (r"\bbox(es|ed)?\b", r"\b(volume|space)\b"),
    "closest_object choice": (r"\bbox", r"\bcamera\b"),
    "wider_object choice": (r"\{a\}", r"\{b\}", r"\bwid(e|er|th)\b"),
    "wider_object numeric": (r"\{a\} in box 1", r"\{b\} in box 2", r"\b(wide|widths?)\b"),
    "parallel_lines choice": (r"\blines?\b", r"\b(space|scene)\b"),
    "parallel_lines yes_no": (r"\blines?\b", r"\b(space|scene)\b", r"\bparallel\b"),
    "corner_angle choice": (r"\blines?\b", r"\b(space|scene)\b"),
    "corner_angle numeric": (r"\blines?\b", r"\b(space|scene)\b", DEGREES),
    "edge_line choice": (r"\{name\}", r"\bP\b", r"\blines?\b"),
    "primitive_of choice": (r"\b(shapes?|solids?|body)\b", r"\b(1|box|marked)\b"),
    "primitive_of yes_no": (r"\{shape\}", r"\b(1|box|marked)\b"),
    "count_in_photo numeric": (r"\{name\}", r"\bphoto\b"),
    "count_in_photo choice": (r"\{name\}", r"\bphoto\b"),
    "object_there yes_no": (r"\{name\}", r"\bphoto\b"),
    "object_box json.named": (r"\{name\}", r"\bbox\b"),
    "object_box json.marked": (r"\{name\}", r"\bbox\b", r"\brectangle\b"),
    "point_to_object point": (r"\{name\}", r"\{width\} × \{height\} pixels"),
    "point_to_described point": (r"\{description\}", r"\{width\} × \{height\} pixels"),
    "point_to_described choice": (r"\{description\}", r"\bbox"),
    "which_box choice": (r"\bP\b", r"\bbox(es)?\b"),
    "mark_at_place choice": (r"\bP\b", r"\bcamera\b", r"\{ratio\} times|times \{ratio\}", r"\{angle\}°", r"\{side\}"),
    "place_in_camera json.metres": (r"\bP\b", r"\bcamera\b", METRES),
    "place_in_camera json.units": (r"\bP\b", r"\bcamera\b", r"\bpoint Q\b"),
    "object_faces choice": (r"\{name\}", r"\b(box|boxed)\b"),
    "camera_tilt choice": (r"\bcamera\b|\blook(ing)?\b", LEVEL),
    "camera_tilt json.roll_pitch": ROLL_PITCH,
    "camera_tilt json.roll_pitch_vfov": (*ROLL_PITCH, r"\bvertical field of view\b"),
    "roll_side choice": (r"\bcamera\b|\bphotographer\b", r"\b(roll|rolled|rotated|leaning)\b"),
    "tilt_order order": (r"\bcamera\b", r"\border\b|\bsort\b", r"\b(lowest|farthest down)\b"),
    "tilt_order choice": (r"\bcamera\b", r"\border\b", r"\b(lowest|farthest down)\b"),
    "horizon_line choice": (r"\blines?\b", r"\bhorizon\b"),
    "up_arrow choice": (r"\b(arrows?|one)\b", r"\b(up|rise)\b"),
    "camera_turn choice": (*FIRST_LAST, r"\bturn"),
    "camera_turn numeric": (*FIRST_LAST, DEGREES),
    "camera_zoom choice": (*FIRST_LAST, r"\bzoom"),
    "camera_zoom numeric": (*FIRST_LAST, r"\bzoom", r"\b(factor|times|divided by)\b"),
    "camera_travel choice": (
        *FIRST_LAST,
        r"\b(seen (in|from)|viewpoint of|camera of|camera as it took|as it was for) the first",
    ),
    "camera_moves yes_no": FIRST_LAST,
    "object_direction choice.one_leg": (*BOXED, r"\b(direction|way)\b"),
    "object_direction choice.two_legs": (*BOXED, r"\bphoto 3\b", r"\b(directions?|ways?|how)\b"),
    "comes_or_goes choice": (*BOXED, r"\b(photo 1 was taken|camera)\b"),
    "object_turns choice": (*BOXED, r"\bturn", r"\b(above|map|world|floor|camera)\b"),
    "faster_object choice": (*BOTH, r"\{a\}", r"\{b\}", r"\bbox 1\b", r"\bbox 2\b"),
    "object_speed numeric": (*BOXED, r"\{seconds\} s\b", r"\bmetres per second\b"),
    "camera_speed numeric": (r"\bcamera\b", r"\bcamera|\bvideo\b", r"\{seconds\} s\b", r"\bmetres per second\b"),
    "faster_camera choice": (r"\bcamera\b", r"\bvideos?\b", r"\b(faster|higher|greater|quickly|more)\b"),
    "how_it_moves choice": (r"\bcamera\b", r"\bvideo\b", r"\b(move|moves|moving|moved|motion|do|does|doing)\b"),
    "heading_point choice": (r"\bphoto 1\b", r"\bnumbered point\b", r"\bcamera\b"),
    "heading_point point": (r"\bphoto 1 .*\{width\} × \{height\} pixels", r"\bcamera\b|\bcamera's\b"),
    "what_moved choice": (r"\bphoto 1\b", r"\bP\b", r"\bcamera\b", r"\bmov(e|es|ing)\b"),
    "which_photo choice": (r"\bphoto 1\b", r"\bP\b", r"\{edge\} edge\b", r"\bphotos?\b"),
    "point_moves yes_no": (*MOVES, r"\b(point|marked) P\b"),
    "which_moves choice": (*MOVES, r"\bpoints?\b"),
    "same_object choice": (*BOTH[:1], r"\bbox(ed|es)?\b", r"\b(photo 2|photos)\b"),
    "same_object point": (*BOTH, r"\bbox(ed)?\b", r"\{width\} × \{height\} pixels"),
    "same_point choice": (*BOTH, r"\bP\b", r"\bpoint|\bnumber"),
    "same_point point": (*BOTH, r"\bP\b", r"\{width\} × \{height\} pixels"),
    "same_point_on_grid choice": (*BOTH, r"\[\{x\}, \{y\}\]"),
    "point_pairs order": (*BOTH, *(rf"\b{letter}\b" for letter in "PQRS")),
    "point_pairs choice": (*BOTH, *(rf"\b{letter}\b" for letter in "PQRS")),
    "photo_of_point choice": (r"\bphoto 1\b", r"\bP\b", r"\bphotos?\b"),
    "point_from_photo choice": (*FROM_1, r"\bP\b"),
    "point_from_photo numeric": (*FROM_1, r"\bP\b", DEGREES),
    "object_from_photo choice": (*FROM_1, r"\{name\}", r"\bbox"),
    "object_from_photo numeric": (*FROM_1, r"\{name\}", r"\bbox", DEGREES),
    "place_direction choice": FROM_2,
    "place_direction numeric": (*FROM_2, DEGREES),
    "beside_facing choice": (r"\{a\} in box 1", r"\{b\} in box 2", r"\bfac(e|es|ing)\b"),
    "beside_facing yes_no": (r"\{a\} in box 1", r"\{b\} in box 2", r"\bfac(e|es|ing)\b|\bits way\b|\bwhere it faces\b"),
    "same_way choice": (r"\{a\} in box 1", r"\{b\} in box 2", r"\bfac(e|es|ed|ing)\b|\bstraight\b|\bfronts?\b"),
    "object_angles json": (
        r"\{name\}",
        r"\b(box|boxed)\b",
        DEGREES,
        r"\bazimuth\b",
        r"\bpolar angle\b",
        r"\brotation\b",
    ),
    "object_tilt choice": (r"\{name\}", r"\b(box|boxed)\b", r"\b(gravity|vertical|ground|plumb line|post)\b"),
    "object_tilt numeric": (r"\{name\}", r"\b(box|boxed)\b", DEGREES),
    "topology choice": (r"\{a\} in box 1", r"\{b\} in box 2"),
    "topology yes_no": (r"object 1\b", r"object 2\b", r"\{relation\}"),
    "side_of choice": (r"\{a\} in box 1", r"\{b\} in box 2"),
    "higher_point choice": (r"\bpoints?\b", r"\b(ground|gravity)\b|spirit level"),
    "how_many numeric": (r"\{name\}", r"\bvideo\b"),
    "how_many choice": (r"\{name\}", r"\bvideo\b"),
    "first_seen order": (r"\{a\}", r"\{b\}", r"\{c\}"),
    "first_seen choice": (r"\{a\}", r"\{b\}", r"\{c\}"),
    "stood_beside choice": (r"\{name\}", r"\b(near|nearest|closest|next|beside|gap|shortest|least)\b"),
    "last_seen order": (r"\{a\}", r"\{b\}", r"\{c\}"),
    "last_seen choice": (r"\{a\}", r"\{b\}", r"\{c\}"),
    **{f"camera_{key}.{axes}": ON_FILM for key in ("story choice", "caption text") for axes in ("level", "camera")},
    "next_step choice": (r"\{task\}", r"\b(next|follows|begins|continues|start)\b"),
    "missing_step choice": (r"\{task\}", *BOTH),
    "state_order order": (r"\{task\}", ORDER),
    "state_order choice": (r"\{task\}", ORDER),
    "progress_pair choice.plain": (r"\{task\}", r"\bphotos?\b"),
    "progress_pair choice.conditional": (r"\{task\}", r"\{change\}", r"\bphotos?\b"),
    "most_progress choice": (r"\{task\}", r"\bphotos?\b"),
    "done_yet yes_no": (r"\{task\}", r"\b(photo|moment)\b"),
    "steps_and_done choice": (r"\{task\}", r"\{first\}", r"\{second\}", r"\b(photo 3|over)\b"),
    "goal_here choice": (r"\b(photo|scene|here)\b", r"\b(tasks?|goals?|do)\b"),
    "paper_fold choice": (r"\b(fold(s|ed|ing)?|unfold(s|ed)?|punched|sheet|paper)\b",),
    "cube_net choice": (r"\b(net|cubes?|views)\b",),
    "turned_shape choice": (r"\bshapes?\b",),
    "turned_solid choice": (r"\bsolids?\b",),
    "stack_view choice": (r"\{side\}",),
    "stack_count numeric": (r"\b(cubes|stack)\b",),
    "stack_count choice": (r"\b(cubes|stack)\b",),
    "cube_moves choice": (r"\b(moves?|moved|sequences?|plan)\b",),
    "assembly choice": (r"\b(pieces?|sets?)\b",),
    "cross_section choice": (r"\{solid\}", r"\b(cut|sawed|section)\b"),
    "fewest_moves numeric": (r"\bmoves\b",),
    "fewest_moves choice": (r"\bmoves?\b",),
    "moves_order order": (r"\bdrawing 1\b", r"\b(order|sort|list|after that)\b|\barrange\b"),
    "moves_order choice": (r"\bdrawings?\b", r"\border|\bsequence\b"),
    "camera_manner choice": ON_FILM,
    "what_happens choice": (r"\bvideo\b",),
    "moves_along choice": (r"\bvideo\b", r"\{a\}", r"\{b\}"),
    **{f"camera_statement yes_no.{axes}": (r"\bvideo\b", r"\{claim\}") for axes in ("level", "camera")},
    "use_of choice": (r"\{use\}", r"\b(numbered|marked|boxe?s?)\b"),
    "afford_mark choice": (r"\{name\}", r"\{deed\}", r"\bmarked|\bpoints?\b"),
    "afford_point point.named": (r"\{name\}", r"\{deed\}", r"\{width\} × \{height\} pixels"),
    "afford_point point.marked": (r"\{name\}", r"\{deed\}", r"\bbox(ed)?\b", r"\{width\} × \{height\} pixels"),
    "relation_of choice.held": (r"\{a\} in box 1", r"\{b\} in box 2"),
    "relation_of choice.seen": (
        r"\{a\} in box 1",
        r"\{b\} in box 2",
        r"\b(photo|camera|view|sight|block|outlines|removed)\b",
    ),
    "relation_of choice.under": (r"\{a\} in box 1", r"\{b\} in box 2"),
    "relation_of yes_no.under": (r"\{a\} in box 1", r"\{b\} in box 2", r"\{relation\}"),
    "relation_of yes_no.held": (r"\{a\} in box 1", r"\{b\} in box 2", r"\{relation\}"),
    "relation_of yes_no.seen": (
        r"\{a\} in box 1",
        r"\{b\} in box 2",
        r"\{relation\}",
        r"\b(photo|camera|view|sight|here|covers|outlines|position)\b",
    ),
    "true_statement choice": (r"\bphoto\b", r"\b(statements?|following|sentence|truly|captions)\b"),
    "true_statement yes_no": (r"\{statement\}", r"\bphoto\b"),
    "body_fit yes_no": (r"\{name\} in box 1", r"\{reach\} cm\b"),
    "walk_between yes_no": (r"\{a\} in box 1", r"\{b\} in box 2", r"\{width\} cm\b"),
    "seat_height choice": (r"\bpoints?\b", r"\b35 (to|and) 55 cm\b", r"\b(level|slope|upright)\b"),
    "afford_parts choice": (r"\{name\}", r"\{deed\}.*\{other\}", r"\b(marked|mark|points?)\b"),
    "which_stands choice": (r"\{name\}", r"\{stands\}", r"\b(numbered|1, 2 (and|or) 3)\b"),
    "from_place order": (r"\bphoto (1|2)\b|\bphoto 2's\b", r"\bleft(most)?\b", r"\bright(most)?\b|\bits left\b"),
    "from_place choice": (r"\bphoto (1|2)\b|\bphoto 2's\b", r"\bpoints?\b", r"\bleft(most)?\b"),
    "from_object choice": (r"\{name\} in box P\b", r"\{side\}", r"\bphoto 2\b", r"\b(fac(e|es|ing)|looks?)\b"),
    "map_direction choice": (r"\{a\} in box 1", r"\{b\} in box 2", r"\{c\} in box 3"),
    "map_direction numeric": (r"\{a\} in box 1", r"\{b\} in box 2", r"\{c\} in box 3", DEGREES),
    **{
        f"which_can_see choice.{kind}": (
            r"\bpoints?\b",
            r"\{name\} in box X\b",
            r"\b(see|sight|visible|photo|directly|view|picture|hide|hidden|straight)\b",
        )
        for kind in ("seen", "hidden")
    },
    "can_see yes_no": (r"\bpoint P\b", r"\{name\} in box 1\b", r"\b(see|sight|visible|photo|directly|straight)\b"),
    "count_on_side numeric": (
        r"\{anchor\} in box P\b",
        r"\{name\}",
        r"\{side\}",
        r"\b(fac(e|es|ing|ed)|looks?|point of view)\b",
    ),
    "count_on_side choice": (
        r"\{anchor\} in box P\b",
        r"\{name\}",
        r"\{side\}",
        r"\b(fac(e|es|ing)|looks?|looking|point of view)\b",
    ),
    "true_caption choice": (r"\bcaptions?\b|\bdescription\b", r"\bphoto\b"),
    "scene_caption text.points": (r"\bpoints?\b|\bP, Q and R\b", r"\b(high|higher|heights?)\b", r"\bcamera\b|\bfar\b"),
    "scene_caption text.objects": (r"\{a\}", r"\{b\}", r"\{c\}", r"\b(left|sideways)\b", r"\b(distance|near|nearer)\b"),
    "captioned_photo choice": (r"\{caption\}", r"\bphotos?\b"),
    "caption_gap choice": (r"\{caption\}", r"\bphoto\b"),
    "place_again choice": (r"\bphoto 1\b", r"\bphotos?\b", r"\b(near|nearest|nearly|close|closest|shortest|least)\b"),
    "room_area numeric": (r"\bsquare metres\b", r"\broom\b", r"\bvideo\b"),
    "room_area choice": (r"\broom\b", r"\bvideo\b", r"\b(floor|large)\b"),
    "which_room_map choice": (r"\bmaps?\b", r"\b(objects|boxed)\b"),
    "which_room_map yes_no": (r"\bmap\b", r"\b(objects|boxed)\b"),
    "map_json map": (r"\{objects\}", r"\b(map|above|floor plan)\b"),
    "where_on_map choice": (r"\bphoto 2\b", r"\barrows?\b"),
    "view_from choice": (r"\barrow X\b", r"\bphotos?\b"),
    "path_map choice.floor": ABOVE,
    "path_map choice.camera": ABOVE_1,
    "path_map yes_no.floor": ABOVE,
    "path_map yes_no.camera": ABOVE_1,
    "view_if yes_no.here": (r"\bpoint P\b", r"\{angle\}°.*\{side\}"),
    "view_if yes_no.there": (r"\bpoint P\b", r"\{angle\}°.*\{side\}", r"\bphoto 2\b"),
    "time_to_contact numeric": (r"\bpoint P\b", r"\bseconds\b", r"\bvideo\b"),
    "time_to_contact choice": (r"\bpoint P\b", r"\bvideo\b"),
    "where_next choice": (
        r"\bpoint P\b",
        r"\{seconds\}",
        r"\bnumbered point\b|\bWhere in the photo\b|\bWhere is it\b|\bwhere is point P\b",
    ),
    "where_next point": (r"\bpoint P\b", r"\{seconds\}", r"\{width\} × \{height\} pixels"),
    "speed_if choice": (r"\{name\} in box 1", r"\{seconds\} s", r"\bcamera\b"),
    "speed_if numeric": (r"\{name\} in box 1", r"\{seconds\} s", r"\bcamera\b", r"\bmetres per second\b"),
    "stands_or_falls yes_no": (r"\b(box(es)?|tower|stack)\b",),
    "stands_or_falls choice": (r"\b(box(es)?|tower|stack)\b",),
    "meets_first choice": (r"\bline L\b", r"\bpoints?\b", r"\bvideo\b"),
    "view_if choice": (r"\bpoint P\b", r"\bphoto 2(\b|'s)"),
    "behind_it choice": (r"\bphoto 1\b", r"\bphoto 2\b", r"\{name\} in box P\b"),
    "relation_across choice": (r"\bphoto 1\b", r"\bpoint P\b|\bpoints P and Q\b", r"\bQ\b"),
    "relation_across yes_no": (r"\bphoto 1\b", r"\{claim\} point P\b", r"\bpoint Q\b"),
    "point_beyond choice": (r"\bphoto 2\b", r"\[\{x\}, \{y\}\]", r"\{side\}", r"\b(marked|marks)\b"),
    "beyond_frame choice": (r"\bphoto 2\b", r"\[\{x\}, \{y\}\]", r"\{side\}"),
    "route_order order.time": (r"\bphoto 1\b", ORDER),
    "route_order choice.time": (r"\bphoto 1\b", ORDER),
    "route_order order.places": SHORTEST,
    "route_order choice.places": SHORTEST,
    "arm_plan arm_plan": (r"\{effector\}", r"\{steps\}", r"\bphotos?\b", r"\{length\} m\b", r"\{turn_deg\}°"),
    "which_arm_plan choice": (*BOTH, r"\{effector\}", r"\{unit\} cm\b"),
    "arm_vectors json": (*BOTH, r"\{effector\}", r"\bcentimetres\b", r"\bdegrees\b"),
    "arm_next choice.move": (*BOTH, r"\{effector\}"),
    "arm_next choice.turn": (*BOTH, r"\{effector\}"),
    "gripper_when choice": (r"\{effector\}|\bfingers\b", r"\{state\}", r"\bphotos?\b"),
    "hand_does choice": (*BOTH, r"\{effector\}"),
    "route_on_map choice": (r"\{name\} in box 1\b", r"\broutes?\b"),
    "where_it_ends choice": (r"\{directions\}", r"\bphoto 1\b", r"\bphotos?\b"),
    "route_blanks choice": (r"\{route\}", r"\bphoto 1\b", r"\b(turns?|brackets)\b"),
    "order_forward order": (r"\{motion\}", r"\b(order|chronologically|time|first|latest)\b"),
    "order_forward choice": (r"\{motion\}", r"\b(orders?|chronological|time|first|latest)\b"),
    "navigate choice": BOTH,
    **{f"goal_reached {f}.metres": (*BOTH, r"\{turn_deg\}°", r"\{length\} m\b") for f in ("yes_no", "choice")},
    **{f"goal_reached {f}.point": (*BOTH, r"\{turn_deg\}°", r"\{length\} of .*point P") for f in ("yes_no", "choice")},
    "navigate_legs plan.metres": (*BOTH, r"\bphoto 3\b", r"\{turn_deg\}°", r"\{length\} m\b", r"\{example\}"),
    "navigate_legs plan.point": (
        *BOTH,
        r"\bphoto 3\b",
        r"\{turn_deg\}°",
        r"\bpoint P\b",
        r"\{length\} of (the distance to point P|its distance)",
        r"\{example\}",
    ),
    "goal_in_words choice": (r"\{name\}", r"\{metres\} m\b", r"\bfront\b", r"\b(plan|how|what|which)\b"),
    "best_view choice": (r"\bphoto 1\b", r"\bphotos?\b"),
    "enough_seen yes_no": (r"\{name\}", r"\{number\}", r"\bphotos\b|\bphoto\b"),
    "where_to_look choice": (*BOTH, r"\bP\b", r"\bturns?\b|\blook\b"),
    "first_move choice.move": (*BOTH, r"\b(moves?|approach)\b"),
    "first_move choice.turn": (*BOTH, r"\bturns?\b"),
    "navigate plan.metres": (*BOTH, r"\{turn_deg\}°", r"\{length\} m\b"),
    "navigate plan.between": (
        *BOTH,
        r"\{turn_deg\}°",
        r"\{length\} of (the distance (between (the two|their) places|to that place|from start to goal)|it\b)",
    ),
    "navigate plan.point": (
        *BOTH,
        r"\{turn_deg\}°",
        r"\bpoint P\b",
        r"\{length\} of (the distance to point P|its distance)",
    ),
}
"""What every prompt of a key names: its photos and points, the frame in which the answer holds, its unit."""

LEFT_OUT = re.compile(
    r"\b(images?|pictures?|frames?|videos?|clips?|shots?)\b|±|\btoleran|\bcounts? as\b|\b(point|marked) [A-H]\b",
    re.IGNORECASE,
)
"""Other names of photos, the tolerance, and marks that are letters of options."""

UNITS = ("metres", "point")
STORIES = ("camera_story", "camera_statement", "camera_caption", "camera_manner", "what_happens", "moves_along")
SHOW_DRAWINGS = (
    "paper_fold",
    "cube_net",
    "turned_shape",
    "turned_solid",
    "stack_view",
    "stack_count",
    "cube_moves",
    "fewest_moves",
    "moves_order",
    "assembly",
    "stands_or_falls",
    "cross_section",
)
SHOW_VIDEOS = (
    "camera_speed",
    "faster_camera",
    "how_it_moves",
    "time_to_contact",
    "meets_first",
    "where_next",
    "how_many",
    "first_seen",
    "last_seen",
    "stood_beside",
    "count_on_side",
    "room_area",
    *STORIES,
)

STILTED = re.compile(
    r"""
    \bthings?\ (marked|at\ point|there\ move) | \b(is|are)\ in\ motion | \ba\ moving\ thing | \bon\ a\ thing
    | \bplaces?\ (of|at\ which|where)\b | photo\ \d's\ (place|camera) | \bin\ which\ of\ them
    | \bphoto\ \d\ (looks|faces|sees|has\ \{) | \bcamera\ (looks|faces)\b | \bway\ of\ the\ camera
    | \b(leads?|brings?)\b | \border\ (do\ you|is\ that) | \bif\ photo\ 1\ was\ the
    | \bto\ see\ what\ photo | \bchoose\?$ | \b(camera|are|is|do)\ at\ photo
    | \bfirst\ and\ the\ last | \b(by|for|until)\ the\ last\ one | \bas\ for\ the | \bfirst\ photo\ faces
    | \bnumber\ times | \btimes\ what | \btimes\ as\ distant | \bthat\ of\ point | \bdegrees\ (are|lie)\b
    | \bwhatever\ axis | \bcounts?,\ not | \bdoes\ not\ count | \bwhat\ counts | \bno\ other\ order | \bat\ most\ 10\b
    | \bnot\ exactly | \basked\ for\ is | \bplan\ names | \bangles\ are\ those | \bdirections\ are\ those
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What readers marked as stilted."""


def words(text: str) -> list[str]:
    """In lower case, without punctuation."""
    return re.findall(r"\{?[\w°]+\}?", text.lower())


def opening(prompt: str) -> tuple[str, ...]:
    return tuple(words(prompt)[:3])


def answer_words(wording: Wording) -> set[str]:
    """Words that tell one option from another."""
    texts = (text for value, text in wording.options.items() if value != UNDETERMINED)
    said = {word for text in texts for word in words(text)}
    little = {"to", "the", "and", "in", "on", "at"}
    return said - {"point", "photo", "video", "box", "line", "arrow", "move", "turn"} - little


def test_each_format_of_each_template_has_wordings() -> None:
    assert WORDINGS.keys() == NAMED.keys()
    for cls in CLASSES.values():
        assert {key.split(".")[0] for key in wordings(cls)} == set(cls.formats)


@pytest.mark.parametrize("key", WORDINGS)
def test_sentences_name_what_their_answer_depends_on_and_give_none_away(key: str) -> None:
    for prompt in WORDINGS[key].prompts:
        missing = [named for named in NAMED[key] if not re.search(named, prompt, re.IGNORECASE)]
        assert not missing, prompt
        said = words(re.sub(r"\bphoto \d", "", prompt, flags=re.IGNORECASE))
        counts = {word: said.count(word) for word in answer_words(WORDINGS[key])}
        assert len({*counts.values()}) <= 1, f"some answers are named more often than others: {counts}: {prompt}"
        assert "yes_no" not in key or not {"yes", "no", "not"} & {*said}, prompt


@pytest.mark.parametrize("key", WORDINGS)
def test_sentences_are_short_and_plain(key: str) -> None:
    for prompt in WORDINGS[key].prompts:
        photos = re.sub(r"\bvideos?\b", "", prompt) if key.split()[0] in SHOW_VIDEOS else prompt
        photos = "" if key.split()[0] in SHOW_DRAWINGS else photos
        assert not LEFT_OUT.search(photos) and not STILTED.search(prompt), prompt
        assert len(words(prompt)) <= 35, prompt
        assert prompt[0].isupper() and prompt[-1] in ".?" and prompt == " ".join(prompt.split()), prompt


@pytest.mark.parametrize("key", WORDINGS)
def test_phrasings_of_a_key_are_many_and_begin_differently(key: str) -> None:
    assert len(WORDINGS[key].prompts) >= 8
    assert len({opening(prompt) for prompt in WORDINGS[key].prompts}) >= 5
    assert len(words(WORDINGS[key].instructions)) <= 170


@pytest.mark.parametrize("key", WORDINGS)
def test_instructions_are_plain_and_say_the_form_of_the_answer(key: str) -> None:
    """Last, where the answer is a word or a number; options speak for themselves."""
    said, format = WORDINGS[key].instructions, key.split()[1].partition(".")[0]
    assert not STILTED.search(said)
    assert all(len(words(sentence)) <= 40 for sentence in re.split(r"[.;]\s|\n", said))
    ends = {"choice": "", "yes_no": r"\. Answer yes or no\.$", "numeric": r"\. Answer with one (whole )?number[^.]*\.$"}
    assert re.search(ends.get(format, r"\. Answer with "), said)


def test_no_two_sentences_are_equal_but_for_case_and_punctuation() -> None:
    folded = [" ".join(words(prompt)) for prompt in SENTENCES]
    assert sorted(folded) == sorted(set(folded))


def test_sentences_are_short_and_begin_differently() -> None:
    lengths = [len(prompt.split()) for prompt in SENTENCES]
    assert median(lengths) <= 22
    assert quantiles(lengths, n=20)[-1] <= 60
    assert len({opening(prompt) for prompt in SENTENCES}) >= 60


def test_placeholders_are_those_that_templates_fill_in() -> None:
    assert {key: set(wording.placeholders) for key, wording in WORDINGS.items() if wording.placeholders} == {
        "stack_view choice": {"side"},
        "cross_section choice": {"solid"},
        "depth_at numeric": {"x", "y"},
        "object_gap numeric": {"a", "b"},
        "nearest_object choice": {"name"},
        "wider_object choice": {"a", "b"},
        "wider_object numeric": {"a", "b"},
        "edge_line choice": {"name"},
        "primitive_of yes_no": {"shape"},
        "count_in_photo numeric": {"name"},
        "count_in_photo choice": {"name"},
        "object_there yes_no": {"name"},
        "object_box json.named": {"name"},
        "object_box json.marked": {"name"},
        "point_to_object point": {"name", "width", "height"},
        "point_to_described point": {"description", "width", "height"},
        "point_to_described choice": {"description"},
        "mark_at_place choice": {"ratio", "angle", "side"},
        "object_faces choice": {"name"},
        "object_from_photo choice": {"name"},
        "object_from_photo numeric": {"name"},
        "beside_facing choice": {"a", "b"},
        "beside_facing yes_no": {"a", "b", "side"},
        "same_way choice": {"a", "b"},
        "side_of choice": {"a", "b"},
        "topology choice": {"a", "b"},
        "topology yes_no": {"relation"},
        "object_angles json": {"name"},
        "object_tilt choice": {"name"},
        "object_tilt numeric": {"name"},
        "which_photo choice": {"edge"},
        "arm_plan arm_plan": {"effector", "steps", "length", "turn_deg"},
        "which_arm_plan choice": {"effector", "unit"},
        "arm_vectors json": {"effector"},
        "arm_next choice.move": {"effector"},
        "arm_next choice.turn": {"effector"},
        "gripper_when choice": {"effector", "state"},
        "hand_does choice": {"effector"},
        "same_object point": {"width", "height"},
        "which_stands choice": {"name", "stands"},
        "from_object choice": {"name", "side"},
        "map_direction choice": {"a", "b", "c"},
        "map_json map": {"objects"},
        "map_direction numeric": {"a", "b", "c"},
        "can_see yes_no": {"name"},
        "which_can_see choice.seen": {"name"},
        "which_can_see choice.hidden": {"name"},
        "beyond_frame choice": {"x", "y", "side"},
        "behind_it choice": {"name"},
        "relation_across yes_no": {"claim"},
        "point_beyond choice": {"x", "y", "side"},
        "count_on_side numeric": {"anchor", "name", "side"},
        "count_on_side choice": {"anchor", "name", "side"},
        "afford_mark choice": {"name", "deed"},
        "use_of choice": {"use"},
        "afford_parts choice": {"name", "deed", "other"},
        "body_fit yes_no": {"name", "reach"},
        "walk_between yes_no": {"a", "b", "width"},
        "true_statement yes_no": {"statement"},
        "relation_of choice.held": {"a", "b"},
        "relation_of choice.seen": {"a", "b"},
        "relation_of choice.under": {"a", "b"},
        "relation_of yes_no.under": {"a", "b", "relation"},
        "relation_of yes_no.held": {"a", "b", "relation"},
        "relation_of yes_no.seen": {"a", "b", "relation"},
        "afford_point point.named": {"name", "deed", "width", "height"},
        "afford_point point.marked": {"name", "deed", "width", "height"},
        "captioned_photo choice": {"caption"},
        "caption_gap choice": {"caption"},
        "scene_caption text.objects": {"a", "b", "c"},
        "camera_statement yes_no.level": {"claim"},
        "camera_statement yes_no.camera": {"claim"},
        "how_many numeric": {"name"},
        "how_many choice": {"name"},
        "first_seen order": {"a", "b", "c"},
        "first_seen choice": {"a", "b", "c"},
        "stood_beside choice": {"name"},
        "last_seen order": {"a", "b", "c"},
        "last_seen choice": {"a", "b", "c"},
        "same_point point": {"width", "height"},
        "same_point_on_grid choice": {"x", "y"},
        "heading_point point": {"width", "height"},
        "camera_speed numeric": {"seconds"},
        "object_direction choice.one_leg": {"name"},
        "object_direction choice.two_legs": {"name"},
        "comes_or_goes choice": {"name"},
        "object_turns choice": {"name"},
        "faster_object choice": {"a", "b"},
        "object_speed numeric": {"name", "seconds"},
        "speed_if choice": {"name", "seconds"},
        "speed_if numeric": {"name", "seconds"},
        "time_to_contact numeric": {"video_s"},
        "time_to_contact choice": {"video_s"},
        "where_next choice": {"seconds", "video_s"},
        "where_next point": {"seconds", "video_s", "width", "height"},
        "view_if yes_no.here": {"angle", "side"},
        "view_if yes_no.there": {"angle", "side"},
        "route_on_map choice": {"name"},
        "where_it_ends choice": {"directions"},
        "route_blanks choice": {"route"},
        "order_forward order": {"motion"},
        "order_forward choice": {"motion"},
        "next_step choice": {"task", "steps"},
        "missing_step choice": {"task"},
        "state_order order": {"task"},
        "state_order choice": {"task"},
        "progress_pair choice.plain": {"task"},
        "progress_pair choice.conditional": {"task", "change"},
        "most_progress choice": {"task"},
        "done_yet yes_no": {"task"},
        "steps_and_done choice": {"task", "steps", "first", "second"},
        "navigate plan.metres": {"length", "turn_deg"},
        "navigate plan.point": {"length", "turn_deg"},
        "navigate plan.between": {"length", "turn_deg"},
        "enough_seen yes_no": {"name", "number"},
        "goal_in_words choice": {"name", "metres"},
        "moves_along choice": {"a", "b"},
        **{f"navigate_legs plan.{unit}": {"example", "length", "turn_deg"} for unit in UNITS},
        **{f"goal_reached {f}.{unit}": {"length", "turn_deg"} for f in ("yes_no", "choice") for unit in UNITS},
    }


def test_options_differ() -> None:
    for wording in WORDINGS.values():
        texts = [text for value, text in wording.options.items() if value != UNDETERMINED]
        assert len({" ".join(words(text)) for text in wording.options.values()}) == len(wording.options)
        assert all(text[0] in string.ascii_uppercase and len(words(text)) <= 5 for text in texts)


GOOD = '[numeric]\nprompts = ["How far is {a}?"]\nplaceholders = ["a"]\n[yes_no.floor]\nprompts = ["Is it far?"]\n'


def written(folder: Path, text: str, name: str = "kind") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_keys_are_formats_and_variants(tmp_path: Path) -> None:
    read = read_wordings(written(tmp_path, GOOD))
    assert [*read] == ["numeric", "yes_no.floor"]
    assert read["numeric"] == Wording(prompts=("How far is {a}?",), placeholders=("a",))
    assert read["numeric"].prompts[0].format(a="it") == "How far is it?"


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("[choice]\nprompt = ['a?']", "[choice]", "unknown key 'prompt'; allowed: instructions, prompts"),
        ("[choice]\nprompts = ['a?']\nhint = 'b'", "[choice]", "unknown key 'hint'; allowed: instructions, prompts"),
        ("prompts = ['a?']", "", "unknown key 'prompts'; allowed: tables named after formats"),
        ("[choice.floor]\ninstructions = 'a'", "[choice.floor]", "no prompts; at least one is needed"),
        ("[choice]", "[choice]", "no prompts; at least one is needed"),
        ("[choice]\nprompts = 'a?'", "[choice]", "prompts must be a list of strings"),
        ("[choice]\nprompts = ['a?', ' ']", "[choice]", "prompts must be a list of strings that are not empty"),
        ("[choice]\nprompts = ['a?']\noptions = {up = 1}", "[choice]", "options must be a table of strings"),
        ("[choice]\nprompts = ['a?']\ninstructions = 1", "[choice]", "instructions must be a string"),
        ("[plan]\nplaceholders = ['a']\nprompts = ['{b}?']", "[plan]", "placeholders b; it must have a, as `pla"),
        ("[plan]\nplaceholders = ['a']\nprompts = ['b?']", "[plan]", "1 has the placeholders none; it must have a"),
        ("[plan]\nprompts = ['{a}?']", "[plan]", "prompt 1 has the placeholders a; it must have none"),
        ("[plan]\nprompts = ['{a?']", "[plan]", "expected '}' before end of string; write {{ for a brace"),
        ("[plan", "", "no valid TOML"),
    ],
)  # fmt: skip
def test_errors_name_file_key_and_what_is_allowed(tmp_path: Path, text: str, key: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(WordingError) as raised:
        read_wordings(path)
    assert str(raised.value).startswith(f"{path}: {key}") and said in str(raised.value)


MODULE = """
from templates.perception.geometry import RangeRatio

class Kind(RangeRatio):
    name = "{name}"
"""


def module(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> type:
    (folder / f"module_of_{name}.py").write_text(MODULE.format(name=name))
    monkeypatch.syspath_prepend(folder)
    kind: type = __import__(f"module_of_{name}").Kind
    return kind


def test_a_template_of_a_third_party_has_its_file_beside_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = module(tmp_path, "theirs", monkeypatch)
    written(tmp_path, GOOD, "theirs")
    assert [*wordings(kind)] == ["numeric", "yes_no.floor"]
    (tmp_path / "theirs.toml").unlink()
    assert [*wordings(kind)] == ["numeric", "yes_no.floor"], "read twice"


def test_a_class_derived_elsewhere_speaks_as_its_base() -> None:
    class Derived(RangeRatio):
        pass

    assert wordings(Derived) == wordings(RangeRatio)


def test_a_missing_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = module(tmp_path, "silent", monkeypatch)
    with pytest.raises(WordingError, match=re.escape(f"has no wordings: write {tmp_path / 'silent.toml'}")):
        wordings(kind)
