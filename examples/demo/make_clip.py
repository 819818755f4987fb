"""Renders the demo clip: python examples/demo/make_clip.py --out examples/demo/room.mp4"""

import argparse
from pathlib import Path

import cv2

from spatial_engine.rendering import demo_scene, write_video


def main() -> None:
    """Writes the clip; the scene is fixed, down to its seeds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path("room.mp4"))
    out = parser.parse_args().out
    cv2.setNumThreads(1)
    write_video(demo_scene(), out, crf=18)
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
