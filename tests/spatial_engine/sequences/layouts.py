"""A rendered scene written in the layout of each preset, from the same descriptions that the presets were made from."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import RenderedScene

GL = np.diag([1.0, -1.0, -1.0, 1.0])
Y_DOWN = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
"""Of a world with z up: x right, y down, z forward."""
Writer = Callable[[Path, RenderedScene], Path]


def scene(frames: int = 4, width_px: int = 96, height_px: int = 72, vfov_deg: float = 50.0) -> RenderedScene:
    """A small room."""
    return random_room(
        np.random.default_rng(5), frames=frames, width_px=width_px, height_px=height_px, vfov_deg=vfov_deg
    )


def noise(path: Path, scene: RenderedScene) -> None:
    """A picture of the scene's size that shows nothing: layouts are read, not looked at."""
    rng = np.random.default_rng(crc32(path.name.encode()))
    size = (scene.intrinsics.height_px, scene.intrinsics.width_px, 3)
    save(path, rng.integers(0, 255, size, dtype=np.uint8))


def save(path: Path, picture: np.ndarray) -> None:
    """By the ending of its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), picture)


def write(path: Path, text: str | Sequence[Sequence[float]] | np.ndarray) -> None:
    """A text, or rows of numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(text, str):
        text = "\n".join(" ".join(f"{number:.9f}" for number in row) for row in text) + "\n"
    path.write_text(text, encoding="utf-8")


def millimetres(scene: RenderedScene, frame: int, unit_m: float = 0.001) -> np.ndarray:
    """Depth as 16 bit."""
    return np.rint(scene.depth(frame) / unit_m).astype(np.uint16)


def matrix(scene: RenderedScene) -> np.ndarray:
    """K."""
    return scene.intrinsics.matrix


def tum(folder: Path, scene: RenderedScene) -> Path:
    folder = folder / "rgbd_dataset_freiburg3_room"
    rows = []
    for frame, pose in enumerate(scene.world_from_cam):
        stamp = 1341847980.722988 + frame / scene.fps
        noise(folder / f"rgb/{stamp:.6f}.png", scene)
        save(folder / f"depth/{stamp + 0.004:.6f}.png", millimetres(scene, frame, 1 / 5000))
        rows.append([stamp + 0.002, *pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat()])
    write(folder / "groundtruth.txt", rows)
    return folder


def seven_scenes(folder: Path, scene: RenderedScene) -> Path:
    for frame, pose in enumerate(scene.world_from_cam):
        noise(folder / f"frame-{frame:06d}.color.png", scene)
        save(folder / f"frame-{frame:06d}.depth.png", millimetres(scene, frame))
        write(folder / f"frame-{frame:06d}.pose.txt", pose)
    return folder


def kitti_odometry(folder: Path, scene: RenderedScene) -> Path:
    for frame in range(len(scene)):
        noise(folder / f"image_2/{frame:06d}.png", scene)
    write(folder / "poses.txt", scene.world_from_cam[:, :3].reshape(-1, 12))
    write(folder / "times.txt", [[frame / scene.fps] for frame in range(len(scene))])
    row = " ".join(map(str, np.c_[matrix(scene), np.zeros(3)].ravel()))
    write(folder / "calib.txt", f"P0: {row}\nP2: {row}\n")
    return folder


def scannet(folder: Path, scene: RenderedScene) -> Path:
    for frame, pose in enumerate(scene.world_from_cam):
        noise(folder / f"color/{20 * frame}.jpg", scene)
        save(folder / f"depth/{20 * frame}.png", millimetres(scene, frame))
        write(folder / f"pose/{20 * frame}.txt", np.full((4, 4), -np.inf) if frame == 1 else pose)
    for what in ("color", "depth"):
        square = np.eye(4)
        square[:3, :3] = matrix(scene)
        write(folder / f"intrinsic/intrinsic_{what}.txt", square)
    return folder


def colmap(folder: Path, scene: RenderedScene, names: Sequence[str]) -> None:
    """cameras.txt and images.txt."""
    camera = scene.intrinsics
    size = f"{camera.width_px} {camera.height_px}"
    line = f"1 OPENCV {size} {camera.fx_px} {camera.fy_px} {camera.cx_px + 0.5} {camera.cy_px + 0.5} 0 0 0 0"
    write(folder / "cameras.txt", f"# cameras\n{line}\n")
    lines = []
    for number, (name, pose) in enumerate(zip(names, np.linalg.inv(scene.world_from_cam), strict=True), start=1):
        x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
        numbers = " ".join(f"{value:.9f}" for value in (w, x, y, z, *pose[:3, 3]))
        lines += [f"{number} {numbers} 1 {name}", ""]
    write(folder / "images.txt", "\n".join(lines) + "\n")


def scannetpp(folder: Path, scene: RenderedScene) -> Path:
    names = [f"frame_{10 * frame:06d}.jpg" for frame in range(len(scene))]
    for frame, name in enumerate(names):
        noise(folder / f"iphone/rgb/{name}", scene)
        save(folder / f"iphone/depth/{Path(name).stem}.png", millimetres(scene, frame))
    colmap(folder / "iphone/colmap", scene, names)
    return folder


def scannetpp_photos(folder: Path, scene: RenderedScene) -> Path:
    (folder / "scans").mkdir(parents=True)
    names = [f"DSC{4000 + frame:05d}.JPG" for frame in range(len(scene))]
    for name in names:
        noise(folder / f"dslr/undistorted_images/{name}", scene)
    colmap(folder / "dslr/colmap", scene, names)
    camera = scene.intrinsics
    stated = {"camera_model": "PINHOLE", "fl_x": camera.fx_px, "fl_y": camera.fy_px}
    stated |= {"cx": camera.cx_px + 0.5, "cy": camera.cy_px + 0.5}
    write(folder / "dslr/nerfstudio/transforms_undistorted.json", json.dumps(stated))
    return folder


def arkitscenes(folder: Path, scene: RenderedScene) -> Path:
    camera, rows = scene.intrinsics, []
    for frame, pose in enumerate(np.linalg.inv(scene.world_from_cam)):
        stamp = 10395.365 + frame / scene.fps
        noise(folder / f"lowres_wide/47333462_{stamp:.3f}.png", scene)
        save(folder / f"lowres_depth/47333462_{stamp:.3f}.png", millimetres(scene, frame))
        pincam = [[camera.width_px, camera.height_px, camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px]]
        write(folder / f"lowres_wide_intrinsics/47333462_{stamp:.3f}.pincam", pincam)
        rows.append([stamp + 0.001, *Rotation.from_matrix(pose[:3, :3]).as_rotvec(), *pose[:3, 3]])
    write(folder / "lowres_wide.traj", rows)
    boxes = [
        {
            "centroid": box.world_from_box[:3, 3].tolist(),
            "axesLengths": list(box.size_m),
            "normalizedAxes": box.world_from_box[:3, :3].T.ravel().tolist(),
        }
        for box in scene.boxes
    ]
    data = [{"label": box.name, "segments": {"obbAligned": one}} for box, one in zip(scene.boxes, boxes, strict=True)]
    write(folder / "47333462_3dod_annotation.json", json.dumps({"data": data}))
    return folder


def hypersim(folder: Path, scene: RenderedScene) -> Path:
    """HDF5 files are written as .npy for `fake_h5py`."""
    images, detail = folder / "images", folder / "_detail/cam_00"
    detail.mkdir(parents=True)
    write(folder / "_detail/metadata_scene.csv", "parameter_name,parameter_value\nmeters_per_asset_unit,0.0254\n")
    gl = scene.world_from_cam @ GL
    array(detail / "camera_keyframe_orientations.hdf5", gl[:, :3, :3])
    array(detail / "camera_keyframe_positions.hdf5", gl[:, :3, 3] / 0.0254)
    for frame in (0, 2):  # the dataset left out pictures with people
        noise(images / f"scene_cam_00_final_preview/frame.{frame:04d}.tonemap.jpg", scene)
        z = scene.depth(frame)
        y, x = np.mgrid[: z.shape[0], : z.shape[1]]
        rays = scene.intrinsics.rays(np.stack([x, y], axis=-1).astype(float))
        path = images / f"scene_cam_00_geometry_hdf5/frame.{frame:04d}.depth_meters.hdf5"
        path.parent.mkdir(parents=True, exist_ok=True)
        array(path, z / rays[..., 2])
        ids = scene.ids(frame)
        array(path.with_name(f"frame.{frame:04d}.semantic_instance.hdf5"), np.where(ids < 0, -1, ids + 1))
        array(path.with_name(f"frame.{frame:04d}.semantic.hdf5"), np.where(ids < 0, 1, 5))  # wall, chair
    (folder / "_detail/mesh").mkdir()
    nothing = np.full((1, 3), np.inf)
    poses = np.array([box.world_from_box for box in scene.boxes])
    for name, values in {
        "extents": np.concatenate([nothing, [box.size_m for box in scene.boxes]]) / 0.0254,
        "positions": np.concatenate([nothing, poses[:, :3, 3]]) / 0.0254,
        "orientations": np.concatenate([np.full((1, 3, 3), np.inf), poses[:, :3, :3]]),
    }.items():
        array(folder / f"_detail/mesh/metadata_semantic_instance_bounding_box_object_aligned_2d_{name}.hdf5", values)
    return folder


def array(path: Path, values: np.ndarray) -> None:
    """Under a name of any ending."""
    with path.open("wb") as file:
        np.save(file, values)


def sun_rgbd(folder: Path, scene: RenderedScene) -> Path:
    noise(folder / "image/0000103.jpg", scene)
    number = millimetres(scene, 0)
    save(folder / "depth_bfx/0000103.png", (number << 3) | (number >> 13))
    write(folder / "intrinsics.txt", " ".join(map(str, matrix(scene).ravel())))
    level = (Y_DOWN @ scene.world_from_cam[0])[:3]
    write(folder / "extrinsics/20140707.txt", np.c_[level[:, :3], np.zeros(3)])
    objects = []
    for box in scene.boxes:
        centre = Y_DOWN @ (box.world_from_box - np.c_[np.zeros((4, 3)), [*scene.world_from_cam[0, :3, 3], 0.0]])
        corners = [centre[:3, 3] + centre[:3, :3] @ (box.half_m * [a, b, 0]) for a, b in _ROUND]
        polygon: dict[str, Any] = {"X": [c[0] for c in corners], "Z": [c[2] for c in corners], "rectangle": True}
        polygon |= {"Ymin": centre[1, 3] - box.half_m[2], "Ymax": centre[1, 3] + box.half_m[2]}
        objects.append({"name": box.name, "polygon": [polygon]})
    write(folder / "annotation3Dfinal/index.json", json.dumps({"objects": objects}))
    return folder


_ROUND = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def matterport3d(folder: Path, scene: RenderedScene) -> Path:
    upside = matrix(scene).copy()
    upside[1, 2] = scene.intrinsics.height_px - (upside[1, 2] + 0.5)
    upside[0, 2] += 0.5
    lines = ["dataset matterport", f"intrinsics_matrix {' '.join(map(str, upside.ravel()))}"]
    for frame, pose in enumerate(scene.world_from_cam @ GL):
        names = [f"0f37bd0737e3_{letter}1_{frame}.{ending}" for letter, ending in (("d", "png"), ("i", "jpg"))]
        save(folder / f"undistorted_depth_images/{names[0]}", millimetres(scene, frame, 0.00025))
        noise(folder / f"undistorted_color_images/{names[1]}", scene)
        lines.append(f"scan {names[0]} {names[1]} {' '.join(f'{value:.9f}' for value in pose.ravel())}")
    write(folder / "undistorted_camera_parameters/house.conf", "\n".join(lines) + "\n")
    return folder


def tartanair(folder: Path, scene: RenderedScene) -> Path:
    """Axes of world and camera: north or forward, east or right, down."""
    ned_from_up = np.array([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1]])
    own_from_opencv = np.array([[0.0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    (folder / "depth_left").mkdir(parents=True)
    rows = []
    for frame, pose in enumerate(ned_from_up @ scene.world_from_cam @ own_from_opencv.T):
        noise(folder / f"image_left/{frame:06d}_left.png", scene)
        np.save(folder / f"depth_left/{frame:06d}_left_depth.npy", scene.depth(frame))
        rows.append([*pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat()])
    write(folder / "pose_left.txt", rows)
    return folder


def co3dv2(folder: Path, scene: RenderedScene) -> Path:
    folder = folder / "chair/110_13051_23361"
    camera, half = scene.intrinsics, min(scene.intrinsics.height_px, scene.intrinsics.width_px) / 2
    left_up = np.diag([-1.0, -1.0, 1.0])
    frames = []
    for frame, pose in enumerate(np.linalg.inv(scene.world_from_cam)):
        name = f"frame{frame + 1:06d}.jpg"
        noise(folder / f"images/{name}", scene)
        save(folder / f"depths/{name}.geometric.png", scene.depth(frame).astype(np.float16).view(np.uint16))
        centre = np.array([camera.width_px, camera.height_px]) / 2
        point = (centre - [camera.cx_px + 0.5, camera.cy_px + 0.5]) / half
        viewpoint = {
            "R": (left_up @ pose[:3, :3]).T.tolist(),
            "T": (left_up @ pose[:3, 3]).tolist(),
            "focal_length": [camera.fx_px / half, camera.fy_px / half],
            "principal_point": point.tolist(),
            "intrinsics_format": "ndc_isotropic",
        }
        frames.append(
            {
                "sequence_name": folder.name,
                "frame_timestamp": frame / scene.fps,
                "image": {"path": f"chair/{folder.name}/images/{name}", "size": [camera.height_px, camera.width_px]},
                "depth": {"path": f"{name}.geometric.png", "scale_adjustment": 1.0},
                "viewpoint": viewpoint,
            }
        )
    with gzip.open(folder.parent / "frame_annotations.jgz", "wt", encoding="utf-8") as file:
        json.dump(frames, file)
    return folder


def kitti_object(folder: Path, scene: RenderedScene) -> Path:
    folder, camera = folder / "training", scene.intrinsics
    projection = np.c_[matrix(scene), matrix(scene) @ [0.06, 0, 0]]
    velo_from_cam0 = np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]])
    for frame in range(len(scene)):
        noise(folder / f"image_2/{frame:06d}.png", scene)
        rows = {"P2": projection, "R0_rect": np.eye(3), "Tr_velo_to_cam": np.c_[velo_from_cam0.T, np.zeros(3)]}
        text = "\n".join(f"{name}: {' '.join(map(str, row.ravel()))}" for name, row in rows.items())
        write(folder / f"calib/{frame:06d}.txt", text + "\n")
        lines = [kitti_dont_care(), *kitti_labels(scene, frame)]
        write(folder / f"label_2/{frame:06d}.txt", "\n".join(lines) + "\n")
        y, x = np.mgrid[: camera.height_px, : camera.width_px]
        rays = np.stack([(x - camera.cx_px) / camera.fx_px, (y - camera.cy_px) / camera.fy_px, np.ones(x.shape)], -1)
        points = (rays * scene.depth(frame)[..., None]).reshape(-1, 3) - [0.06, 0, 0]
        scan = np.c_[points @ velo_from_cam0.T, np.zeros(len(points))].astype(np.float32)
        (folder / "velodyne").mkdir(exist_ok=True)
        scan.tofile(folder / f"velodyne/{frame:06d}.bin")
    return folder.parent


def kitti_dont_care() -> str:
    """A region without labels."""
    return "DontCare -1 -1 -10 1 1 2 2 -1 -1 -1 -1000 -1000 -1000 -10"


def kitti_labels(scene: RenderedScene, frame: int) -> list[str]:
    """A line for each box; camera 0 stands 6 cm beside the picture's."""
    cam0_from_world, lines = np.linalg.inv(scene.world_from_cam[frame]), []
    cam0_from_world[0, 3] -= 0.06
    for k, box in enumerate(scene.boxes):
        centre = cam0_from_world @ box.world_from_box
        turn = Rotation.from_matrix(centre[:3, :3] @ Y_DOWN[:3, :3].T)
        at, size = centre[:3, 3] + [0, box.half_m[2], 0], box.size_m
        numbers = [size[2], size[1], size[0], *at, turn.as_euler("YXZ")[0]]
        lines.append(f"{box.name.replace(' ', '_')} 0 {rectangle(scene, frame, k)} {' '.join(map(str, numbers))}")
    return lines


def kitti_tracking(folder: Path, scene: RenderedScene) -> Path:
    projection = np.c_[matrix(scene), matrix(scene) @ [0.06, 0, 0]]
    write(folder / "calib/0001.txt", f"P2: {' '.join(map(str, projection.ravel()))}\nR_rect 1 0 0 0 1 0 0 0 1\n")
    lines = []
    for frame in range(len(scene)):
        noise(folder / f"image_02/0001/{frame:06d}.png", scene)
        lines.append(f"{frame} -1 {kitti_dont_care()}")
        lines += [f"{frame} {k} {line}" for k, line in enumerate(kitti_labels(scene, frame))]
    write(folder / "label_02/0001.txt", "\n".join(lines) + "\n")
    return folder


def rectangle(scene: RenderedScene, frame: int, box: int) -> str:
    """`occluded`, alpha, and left, top, right, bottom of what the picture shows of a box."""
    y, x = np.nonzero(scene.ids(frame) == box)
    return f"0 0 {x.min()} {y.min()} {x.max()} {y.max()}" if len(x) else "3 0 0 0 1 1"


def nuscenes(folder: Path, scene: RenderedScene) -> Path:
    ego_from_cam = np.array([[0.0, 0, 1, 1.7], [-1, 0, 0, 0], [0, -1, 0, 1.5], [0, 0, 0, 1]])
    tables: dict[str, list[dict[str, Any]]] = {
        "sensor": [{"token": "s", "channel": "CAM_FRONT", "modality": "camera"}],
        "calibrated_sensor": [
            {"token": "c", "sensor_token": "s", "camera_intrinsic": matrix(scene).tolist(), **placed(ego_from_cam)}
        ],
        "scene": [{"token": "z", "name": "scene-0061"}],
        "category": [{"token": f"k{k}", "name": f"vehicle.{box.name}"} for k, box in enumerate(scene.boxes)],
        "instance": [{"token": f"i{k}", "category_token": f"k{k}"} for k in range(len(scene.boxes))],
        "sample": [], "sample_data": [], "ego_pose": [], "sample_annotation": [],
    }  # fmt: skip
    for frame, pose in enumerate(scene.world_from_cam):
        is_key, name = frame % 2 == 0, f"samples/CAM_FRONT/n015__CAM_FRONT__{1532402927612460 + 500000 * frame}.jpg"
        noise(folder / name, scene)
        tables["sample"].append({"token": f"m{frame}", "scene_token": "z"})
        tables["ego_pose"].append({"token": f"e{frame}", **placed(pose @ np.linalg.inv(ego_from_cam))})
        tables["sample_data"].append(
            {"token": f"d{frame}", "sample_token": f"m{frame}", "ego_pose_token": f"e{frame}", "filename": name,
             "calibrated_sensor_token": "c", "timestamp": 1532402927612460 + 500000 * frame, "is_key_frame": is_key}
        )  # fmt: skip
        for k, box in enumerate(scene.boxes if is_key else ()):
            size = [box.size_m[1], box.size_m[0], box.size_m[2]]
            level = "4" if (scene.ids(frame) == k).any() else "1"
            row = {"sample_token": f"m{frame}", "instance_token": f"i{k}", "size": size, "visibility_token": level}
            tables["sample_annotation"].append(row | placed(box.world_from_box))
    for name, rows in tables.items():
        write(folder / f"v1.0-mini/{name}.json", json.dumps(rows))
    return folder


def placed(pose: np.ndarray) -> dict[str, Any]:
    """As nuScenes writes poses."""
    x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
    return {"translation": pose[:3, 3].tolist(), "rotation": [w, x, y, z]}


def adt(folder: Path, scene: RenderedScene) -> Path:
    camera, y_up = scene.intrinsics, Y_DOWN.T
    frames = []
    for frame, pose in enumerate(y_up @ scene.world_from_cam):
        stamp = 87551170813262 + 33339038 * frame
        noise(folder / f"rectified/{stamp}.rgb.png", scene)
        save(folder / f"rectified/{stamp}.depth.png", millimetres(scene, frame))
        frames.append({"timestamp_ns": stamp, "T_world_camera_rgb": pose.tolist()})
    lens = {"fx": camera.fx_px, "fy": camera.fy_px, "cx": camera.cx_px, "cy": camera.cy_px}
    write(folder / "frames.json", json.dumps({"frames": frames, "rectified": lens}))
    poses, boxes = ["uid,t,x,y,z,w,x,y,z"], ["uid,t,xmin,xmax,ymin,ymax,zmin,zmax"]
    for k, box in enumerate(scene.boxes):
        pose = y_up @ box.world_from_box
        corner = pose[:3, 3] - pose[:3, :3] @ box.half_m  # the dataset's own origins are not the middles
        x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
        poses.append(",".join(map(str, [k + 1, -1, *corner, w, x, y, z])))
        boxes.append(",".join(map(str, [k + 1, -1, 0, box.size_m[0], 0, box.size_m[1], 0, box.size_m[2]])))
    write(folder / "scene_objects.csv", "\n".join(poses) + "\n")
    write(folder / "3d_bounding_box.csv", "\n".join(boxes) + "\n")
    write(folder / "instances.json", json.dumps({k + 1: {"category": box.name} for k, box in enumerate(scene.boxes)}))
    return folder


WRITERS: dict[str, tuple[str, Writer]] = {
    "tum": ("tum", tum),
    "seven-scenes": ("seven-scenes", seven_scenes),
    "kitti-odometry": ("kitti-odometry", kitti_odometry),
    "scannet": ("scannet", scannet),
    "scannetpp video": ("scannetpp", scannetpp),
    "scannetpp photos": ("scannetpp", scannetpp_photos),
    "arkitscenes": ("arkitscenes", arkitscenes),
    "hypersim": ("hypersim", hypersim),
    "sun-rgbd": ("sun-rgbd", sun_rgbd),
    "matterport3d": ("matterport3d", matterport3d),
    "tartanair": ("tartanair", tartanair),
    "co3dv2": ("co3dv2", co3dv2),
    "kitti-object": ("kitti-object", kitti_object),
    "kitti-tracking": ("kitti-tracking", kitti_tracking),
    "nuscenes": ("nuscenes", nuscenes),
    "adt": ("adt", adt),
}
"""Preset and writer."""
