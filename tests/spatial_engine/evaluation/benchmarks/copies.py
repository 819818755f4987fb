"""Tiny local copies of published benchmarks, in the layouts in which they are published. All items are ours."""

import csv
import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.films import numbered, texture, write_video

ITEMS = 12
"""Of each kind in a copy."""
OPTIONS = ["left", "right", "front", "behind"]
LETTERS = "ABCD"


def png(number: int) -> bytes:
    """A small picture of its own for each number."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(texture(number, 24, 32)).save(buffer, "PNG")
    return buffer.getvalue()


def base64_png(number: int) -> str:
    return b64encode(png(number)).decode()


def picture_file(folder: Path, name: str, number: int) -> str:
    """Writes a picture below the folder; returns its name."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png(number))
    return name


def tsv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """As pandas writes VLMEvalKit's tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]], delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)


def letter(index: int) -> str:
    return LETTERS[index % 4]


def lettered(separator: str = ". ") -> list[str]:
    return [f"{a}{separator}{text}" for a, text in zip(LETTERS, OPTIONS, strict=True)]


def vsi_rows() -> list[dict[str, Any]]:
    """Choices of three difficulties and two other kinds, and numbers of all four."""
    kinds = ["object_rel_direction_easy", "object_rel_direction_medium", "object_rel_direction_hard"]
    kinds += ["object_rel_distance", "route_planning", "obj_appearance_order"]
    numbers = ["object_counting", "object_abs_distance", "object_size_estimation", "room_size_estimation"]
    rows: list[dict[str, Any]] = []
    for index in range(3 * len(kinds)):
        row = {"question_type": kinds[index % 6], "ground_truth": letter(index), "options": lettered()}
        rows.append({**row, "question": f"Standing at place {index}, where is the table?"})
    for index in range(2 * len(numbers)):
        truth = ["3", "2.5", "80", "21.4"][index % 4]
        row = {"question_type": numbers[index % 4], "ground_truth": truth, "options": None}
        rows.append({**row, "question": f"What is the size of thing {index}?"})
    place = {"dataset": "arkitscenes"}
    return [{"id": index, **place, "scene_name": f"room{index % 2}", **row} for index, row in enumerate(rows)]


def vsi_videos(folder: Path, frames: int = 40) -> None:
    (folder / "arkitscenes").mkdir(parents=True, exist_ok=True)
    for room in range(2):
        pictures = [numbered(number + 100 * room) for number in range(frames)]
        write_video(folder / "arkitscenes" / f"room{room}.mp4", pictures)


def vsi_json_lines(folder: Path) -> Path:
    vsi_videos(folder)
    json_lines(folder / "test.jsonl", vsi_rows())
    return folder


def vsi_parquet(folder: Path) -> Path:
    vsi_videos(folder)
    parquet(folder / "test-00000-of-00001.parquet", vsi_rows())
    return folder


def vsi_tsv(folder: Path) -> Path:
    vsi_videos(folder)
    rows = [
        {
            "index": row["id"],
            "video": f"arkitscenes/{row['scene_name']}.mp4",
            "question": row["question"],
            "question_type": row["question_type"],
            "candidates": row["options"] or "",
            "answer": row["ground_truth"],
        }
        for row in vsi_rows()
    ]
    tsv(folder / "VSI-Bench.tsv", rows)
    return folder


MMSI = ["Positional Relationship (Cam.–Obj.)", "Attribute (Meas.)", "Motion (Cam.)", "MSR"]


def mmsi_parquet(folder: Path) -> Path:
    rows = [
        {
            "id": index,
            "images": [png(index), png(index + 1)],
            "question_type": MMSI[index % 4],
            "question": f"Where is lamp {index}?\nOptions: {', '.join(lettered(': '))}",
            "answer": letter(index),
            "thought": "",
        }
        for index in range(ITEMS)
    ]
    parquet(folder / "MMSI_Bench.parquet", rows)
    return folder


def mmsi_tsv(folder: Path) -> Path:
    rows = [
        {
            "index": index,
            "image": str([base64_png(index), base64_png(index + 1)]),
            "question": f"Where is lamp {index}?",
            **dict(zip(LETTERS, OPTIONS, strict=True)),
            "answer": letter(index),
            "category": ["Pos-Cam-Obj", "Attr-Meas", "Motion-Cam", "MSR"][index % 4],
        }
        for index in range(ITEMS)
    ]
    tsv(folder / "MMSIBench_wo_circular.tsv", rows)
    return folder


SITE = ["counting & existence", "3d information understanding", "spatial relationship reasoning"]


def site_video(folder: Path) -> str:
    (folder / "clips").mkdir(parents=True, exist_ok=True)
    write_video(folder / "clips" / "walk.mp4", [numbered(number) for number in range(12)])
    return "clips/walk.mp4"


def site_parquet(folder: Path) -> Path:
    """Pictures within question and options, several pictures, and videos."""
    rows = []
    for index in range(ITEMS):
        question, options = f"What is beside <image> in view {index}?", ["<image>", "<image>", "nothing", "it"]
        names = [f"shown/{index}_{k}.png" for k in range(3)]
        visual = [picture_file(folder, name, 3 * index + k) for k, name in enumerate(names)]
        if index % 3 == 2:
            question, options, visual = f"What comes after step {index}?", OPTIONS, [site_video(folder)]
        row = {"question": question, "options": options, "answer": letter(index), "visual": visual}
        rows.append({**row, "id": f"q{index}", "category": SITE[index % 3]})
    parquet(folder / "image_test" / "test-00000-of-00001.parquet", rows[:6])
    parquet(folder / "video_test" / "test-00000-of-00001.parquet", rows[6:])
    return folder


def site_tsv(folder: Path) -> Path:
    """Two tables, whose indices overlap."""
    common = [
        {"index": index, "question": f"Where is lamp {index}?", "answer": letter(index), "category": SITE[index % 3]}
        for index in range(6)
    ]
    pictures = [picture_file(folder, f"pictures/{index}.png", index) for index in range(6)]
    image = [{**row, "options": str(OPTIONS), "image_path": name} for row, name in zip(common, pictures, strict=True)]
    tsv(folder / "SiteBenchImage.tsv", image)
    video = [{**row, "question": f"Clip {row['index']}: what is next?", "candidates": str(OPTIONS)} for row in common]
    tsv(folder / "SiteBenchVideo.tsv", [{**row, "video_path": site_video(folder)} for row in video])
    return folder


OMNI = [("Perspective_Taking", "Egocentric"), ("Complex_Logic", "Geometric_Reasoning"), ("Dynamic_Reasoning", "Motion")]


def omnispatial_json(folder: Path) -> Path:
    rows = []
    for index in range(ITEMS):
        task, part = OMNI[index % 3]
        picture_file(folder, f"{task}/{index}.png", index)
        row = {"id": f"{index}_0", "question": f"Which way is car {index} going?", "options": OPTIONS}
        rows.append({**row, "answer": index % 4, "task_type": task, "sub_task_type": part})
    (folder / "data.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


def omnispatial_parquet(folder: Path) -> Path:
    rows = [
        {
            "id": f"{index}_0",
            "question": f"Which way is car {index} going?",
            "options": OPTIONS,
            "gt": letter(index),
            "task_type": OMNI[index % 3][0],
            "sub_task_type": OMNI[index % 3][1],
            "image_path": picture_file(folder, f"images/{index}.png", index),
        }
        for index in range(ITEMS)
    ]
    parquet(folder / "data" / "test-00000-of-00001.parquet", rows)
    return folder


def omnispatial_tsv(folder: Path) -> Path:
    """The second half shows the pictures of the first one, by index, as VLMEvalKit stores repeated pictures."""
    rows = [
        {
            "index": index,
            "image": base64_png(index) if index < ITEMS // 2 else str(index - ITEMS // 2),
            "question": f"Which way is car {index} going?",
            **dict(zip(LETTERS, OPTIONS, strict=True)),
            "answer": letter(index),
            "task_type": OMNI[index % 3][0],
            "sub_task_type": OMNI[index % 3][1],
        }
        for index in range(ITEMS)
    ]
    tsv(folder / "OmniSpatialBench.tsv", rows)
    return folder


def mindcube_rows(folder: Path) -> list[dict[str, Any]]:
    settings = ["among_group", "around_new", "rotation_group"]
    return [
        {
            "id": f"{settings[index % 3]}{index}_q0",
            "category": ["P-P"],
            "question": f"From view {index % 2 + 1}, where is sofa {index}? {' '.join(lettered())}",
            "images": [picture_file(folder, f"views/{index}_{k}.png", 2 * index + k) for k in range(2)],
            "gt_answer": letter(index),
        }
        for index in range(ITEMS)
    ]


def mindcube_json_lines(folder: Path) -> Path:
    rows = mindcube_rows(folder)
    json_lines(folder / "MindCube.jsonl", rows)
    json_lines(folder / "MindCube_tinybench.jsonl", rows[:9])
    return folder


def mindcube_parquet(folder: Path) -> Path:
    rows = [{**row, "images": [{"bytes": png(n), "path": None}]} for n, row in enumerate(mindcube_rows(folder))]
    parquet(folder / "tiny" / "combined-00000-of-00001.parquet", rows)
    return folder


def mindcube_tsv(folder: Path) -> Path:
    rows = [
        {
            "index": index,
            "image_path": str(row["images"]),
            "input_prompt": f"<image><image>\n{row['question']}",
            "answer": row["gt_answer"],
            "category": ["among", "around", "rotation"][index % 3],
        }
        for index, row in enumerate(mindcube_rows(folder))
    ]
    tsv(folder / "MindCubeBench_tiny_raw_qa.tsv", rows)
    return folder


STARE = [
    f"{name}{twin}" for name in ("2D_trans", "3D_trans", "folding_nets", "tangram_puzzle") for twin in ("", "_vsim")
]
STARE += ["temporal", "perspective"]


def stare_rows() -> list[dict[str, Any]]:
    rows = []
    for index in range(2 * len(STARE)):
        category = STARE[index % len(STARE)]
        binary = category.startswith(("folding", "tangram"))
        options = "A. yes B. no" if binary else " ".join(lettered())
        answer = "AB"[index // len(STARE)] if binary else letter(index)
        row = {
            "question": f"Does shape {index} fit? <image>\n{options}",
            "answer": answer,
            "category": category,
        }
        rows.append(row)
    return rows


def stare_parquet(folder: Path) -> Path:
    rows = [
        {"qid": f"s{index}", "images": [{"bytes": png(index), "path": "0.png"}], "other_info": "", **row}
        for index, row in enumerate(stare_rows())
    ]
    parquet(folder / "All" / "train-00000-of-00001.parquet", rows)
    return folder


def stare_tsv(folder: Path) -> Path:
    rows = [{"index": index, "image": base64_png(index), **row} for index, row in enumerate(stare_rows())]
    tsv(folder / "StareBench.tsv", rows)
    return folder


CORE = ["Permanence", "Perspective", "Intuitive Physics"]


def corecognition_rows() -> list[dict[str, Any]]:
    rows = []
    for index in range(ITEMS):
        row = {
            "question": f"Is ball {index} still there?",
            "question_type": "YORN",
            "answer": ["YES", "NO"][index % 4 // 2],
        }
        if index % 2:
            question = f"Where is ball {index}?\n" + "\n".join(lettered())
            row = {"question": question, "question_type": "MCQ", "answer": letter(index)}
        if index == ITEMS - 1:
            row = {"question": "Which figure is the same ball?", "question_type": "MCQ", "answer": "C"}
        rows.append({**row, "category": "Sensorimotor", "l2-category": CORE[index % 3]})
    return rows


def corecognition_tsv(folder: Path) -> Path:
    rows = [{"index": index, "image": base64_png(index), **row} for index, row in enumerate(corecognition_rows())]
    tsv(folder / "CoreCognition.tsv", rows)
    return folder


def corecognition_parquet(folder: Path) -> Path:
    rows = [
        {
            "id": index,
            "images": {"bytes": png(index), "path": None},
            "prompt": row["question"],
            "type": "TF" if row["question_type"] == "YORN" else "MC",
            "answer": row["answer"],
            "concept": row["l2-category"],
            "stage": "Stage Sensorimotor",
        }
        for index, row in enumerate(corecognition_rows())
    ]
    parquet(folder / "frame-combined" / "train-00000-of-00001.parquet", rows)
    return folder


VIZ = [("MentalRotation", "2DRotation"), ("MentalFolding", "PaperFolding"), ("MentalAnimation", "ArrowMoving")]


def spatialviz_parquet(folder: Path) -> Path:
    rows = []
    for index in range(ITEMS):
        family, task = VIZ[index % 3]
        picture_file(folder, f"{family}/{task}/Level0/{index}.png", index)
        choices = list(LETTERS) if index % 2 else OPTIONS
        row = {"Category": family, "Task": task, "Level": "Level0", "Image_id": str(index), "Choices": choices}
        rows.append({**row, "Question": f"Which shape follows number {index}?", "Answer": letter(index)})
    parquet(folder / "test-00000-of-00001.parquet", rows)
    return folder


def spatialviz_tsv(folder: Path) -> Path:
    rows = [
        {
            "index": index,
            "image": base64_png(index),
            "question": f"Which shape follows number {index}?",
            **dict(zip(LETTERS, OPTIONS, strict=True)),
            "answer": letter(index),
            "category": VIZ[index % 3][0],
            "task": VIZ[index % 3][1],
        }
        for index in range(ITEMS)
    ]
    tsv(folder / "SpatialVizBench.tsv", rows)
    return folder


def mask(number: int) -> str:
    """White in one place."""
    from PIL import Image

    picture = Image.new("L", (20, 10))
    picture.putpixel((2 + number, 3), 255)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return b64encode(buffer.getvalue()).decode()


GRAVITY = {"roll": 2.5, "pitch": -10.0, "vfov": 60.0}


def spatialtree_rows(folder: Path) -> list[dict[str, Any]]:
    """Choices, a number, yes and no, gravity, and a point; pictures and one video."""
    sigmas = json.dumps({"roll_unc": 2.0, "pitch_unc": 2.0, "vfov_unc": 4.0})
    kinds = [
        ("multichoiceeval", ("L1", "Relation", "RelativeDirection"), "B", "", lettered(), "mcq"),
        ("multichoiceeval", ("L1", "Geometry", "Distance"), "2.5", "", [], "open"),
        ("meanrelativeacc", ("L1", "Geometry", "Size"), "120", "", [], "open"),
        ("judge", ("L2", "Underst.", "RelationUnderstanding"), "Yes", "", [], "open"),
        ("gravityeval", ("L1", "Orientation", "Gravity"), json.dumps(GRAVITY), sigmas, [], "open"),
        ("affmask", ("L2", "Underst.", "Affordance"), mask(1), "", [], "open"),
    ]
    rows = []
    for index in range(2 * len(kinds)):
        metric, path, answer, hint, options, kind = kinds[index % len(kinds)]
        tags = {f"spatree{depth}": name for depth, name in enumerate(path)}
        video = [site_video(folder)] if index % 6 == 3 else []
        picture = [] if video else [picture_file(folder, f"images/{index}.png", index)]
        row = {"session_id": f"s{index}", "question": f"What holds for thing {index}?", "option": options, "hint": hint}
        info = [{"frame_index": [0, 2, 4, 6, 8, 10]}] if video else []
        row |= {"answer": answer, "question_type": kind, "image": picture, "video": video, "video_info": info}
        rows.append({**row, "extra_info": json.dumps({"metricfunc": metric, **tags})})
    return rows


def spatialtree_json_lines(folder: Path) -> Path:
    json_lines(folder / "test.jsonl", spatialtree_rows(folder))
    return folder


def spatialtree_parquet(folder: Path) -> Path:
    parquet(folder / "data" / "test-00000-of-00001.parquet", spatialtree_rows(folder))
    return folder


def spatiallogic_csv(folder: Path) -> Path:
    rows = []
    for index in range(ITEMS):
        names = [picture_file(folder, f"testset/{index // 2}_{k}.png", index // 2 * 2 + k) for k in range(2)]
        first, second = names if index % 2 else names[::-1]
        row = {"video_path1": f"_/{first}", "video_path2": second, "task_name": "Place the corn into the bag."}
        rows.append({**row, "target": "img2" if index % 2 else "img1", "window": 5 + index // 2, "pair": index // 2})
    with (folder / "gt.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return folder


def escher_json(folder: Path) -> Path:
    (folder / "videos").mkdir(parents=True)
    write_video(folder / "videos" / "hand.mp4", [numbered(number) for number in range(10)])
    kinds = [
        ("Single-Choice", f"Where does it go? {' '.join(lettered(') '))}", "B"),
        ("Multiple-Select", f"What is on the table? {' '.join(lettered(') '))}", "A, C"),
        ("True/False", "The cup is behind the box.", "False"),
        ("Fill-in-the-Blank", "The hand turns the lid ____.", "counterclockwise"),
    ]
    rows = []
    for index in range(ITEMS):
        kind, question, answer = kinds[index % 4]
        row = {"index": index, "P": "hand.mp4", "Q": f"[{kind}] Part {index}: {question}", "A": answer}
        rows.append({**row, "C": "Category 1: Object Relations", "scene_type": "Object-Centric", "question_type": kind})
    (folder / "Escher-Bench.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


COPIES: Mapping[str, tuple[str, Callable[[Path], Path]]] = {
    "vsi_bench jsonl": ("vsi_bench", vsi_json_lines),
    "vsi_bench parquet": ("vsi_bench", vsi_parquet),
    "vsi_bench tsv": ("vsi_bench", vsi_tsv),
    "mmsi_bench parquet": ("mmsi_bench", mmsi_parquet),
    "mmsi_bench tsv": ("mmsi_bench", mmsi_tsv),
    "site parquet": ("site", site_parquet),
    "site tsv": ("site", site_tsv),
    "omnispatial json": ("omnispatial", omnispatial_json),
    "omnispatial parquet": ("omnispatial", omnispatial_parquet),
    "omnispatial tsv": ("omnispatial", omnispatial_tsv),
    "mindcube jsonl": ("mindcube", mindcube_json_lines),
    "mindcube_tiny jsonl": ("mindcube_tiny", mindcube_json_lines),
    "mindcube_tiny parquet": ("mindcube_tiny", mindcube_parquet),
    "mindcube_tiny tsv": ("mindcube_tiny", mindcube_tsv),
    "stare parquet": ("stare", stare_parquet),
    "stare tsv": ("stare", stare_tsv),
    "corecognition tsv": ("corecognition", corecognition_tsv),
    "corecognition parquet": ("corecognition", corecognition_parquet),
    "spatialviz parquet": ("spatialviz", spatialviz_parquet),
    "spatialviz tsv": ("spatialviz", spatialviz_tsv),
    "spatialtree jsonl": ("spatialtree", spatialtree_json_lines),
    "spatialtree parquet": ("spatialtree", spatialtree_parquet),
    "spatiallogic csv": ("spatiallogic", spatiallogic_csv),
    "escher_bench json": ("escher_bench", escher_json),
}
"""By layout: the benchmark, and what writes a copy into a folder and returns its path."""
