"""How many steps before contact the debris that a car touches comes into view: no monitor of images can tell earlier.

    offnominal pixels frames --env car-lanekeep --policy tqc --anomaly dyn-debris --magnitude 6 --onset 100 \
        --unknown debris --episodes 60 --every 1 --size 256 --seed 25 --out runs/in-view-6
    python studies/pixels/in_view.py runs/in-view-6 > studies/pixels/in-view-6.csv

and the same with magnitude 2 and seed 26. It needs NumPy, SciPy and Pillow.

The classes of pixels are the true ones. From the last frame of an episode the nearest piece on the path is followed
backwards: the next is one that lies where a car at 0 to 20 m/s would have seen it, within 1.2 m across.
Rows: the episode, its last step, and how many steps before it the piece is seen first; none if the car touched no debris.
"""

import json
import sys
from collections import defaultdict

import numpy as np
from PIL import Image
from scipy import ndimage

DEBRIS = 8
# Of car-lanekeep's camera: pixels from the middle to an edge, which are its focal length too, and its height, m.
HALF, HEIGHT_M = 128, 1.5
# The last step of an episode that does not fail.
HORIZON = 500
# Furthest to the camera, and to the path's middle, of a piece that is touched, m.
TOUCHED_M = (6.0, 1.4)
# Metres that the car drives in a step, usually and at most.
STEP_M = (0.6, 1.0)
ACROSS_M = 1.2
# Steps for which a piece may be hidden.
HIDDEN = 4


def pieces(image):
    """Of each piece of debris below the horizon: distance ahead, its middle to the right, and half its width, m."""
    parts, _ = ndimage.label(np.array(Image.open(image)) == DEBRIS, np.ones((3, 3)))
    for rows, columns in ndimage.find_objects(parts):
        if rows.stop > HALF:
            ahead = HALF * HEIGHT_M / (rows.stop - HALF)
            middle = 0.5 * (columns.start + columns.stop) - HALF
            yield ahead, ahead * middle / HALF, 0.5 * ahead * (columns.stop - columns.start) / HALF


def first_seen(images):
    """Steps before the last image at which the touched piece is seen first; none if no piece is touched."""
    furthest, path = TOUCHED_M
    near = [p for p in pieces(images[-1]) if p[0] < furthest and abs(p[1]) - p[2] < path]
    if not near:
        return None
    (ahead, right, _), first = min(near), 0
    for back, image in enumerate(reversed(images[:-1]), 1):
        steps = back - first
        if steps > HIDDEN:
            break

        def off(piece):
            return abs(piece[0] - ahead - STEP_M[0] * steps) + abs(piece[1] - right)

        # A row of pixels is worth more metres the further it is.
        row_m = ahead**2 / (HALF * HEIGHT_M)
        fits = [
            p
            for p in pieces(image)
            if -row_m - 0.5 < p[0] - ahead < steps * STEP_M[1] + row_m + 0.5 and abs(p[1] - right) < ACROSS_M
        ]
        if fits:
            (ahead, right, _), first = min(fits, key=off), back
    return first


def main(folder):
    with open(f"{folder}/frames.json") as file:
        frames = json.load(file)["frames"]
    episodes = defaultdict(list)
    for frame in frames:
        episodes[frame["episode"]].append((frame["step"], f"{folder}/labels/{frame['name']}.png"))
    print("episode,last,in_view")
    for episode, seen in sorted(episodes.items()):
        steps, images = zip(*sorted(seen), strict=True)
        if steps[-1] < HORIZON:
            found = first_seen(images)
            print(f"{episode},{steps[-1]},{'none' if found is None else found}")


if __name__ == "__main__":
    main(sys.argv[1])
