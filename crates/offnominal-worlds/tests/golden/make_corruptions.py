"""Writes corruptions.json: what the package imagecorruptions makes of a small image.

    python3 -m pip install imagecorruptions==1.1.2 "setuptools<80"
    python3 make_corruptions.py SEED > corruptions.json

Deterministic corruptions: every eleventh number of the result. Motion blur: the same, at given angles. Random ones:
four statistics of the result with their standard errors over repetitions. The package was written for older versions
of NumPy and scikit-image; two names are given back to it first.
"""

import json
import sys

import numpy as np

np.float_ = np.float64
import imagecorruptions.corruptions as package  # noqa: E402
from imagecorruptions import corrupt  # noqa: E402

modern = package.gaussian
package.gaussian = lambda x, *args, multichannel=False, **more: modern(
    x, *args, channel_axis=-1 if multichannel else None, **more)

DETERMINISTIC = ["gaussian_blur", "defocus_blur", "zoom_blur", "brightness", "contrast", "saturate", "pixelate", "jpeg_compression"]
RANDOM = ["gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "glass_blur", "motion_blur", "snow", "fog", "elastic_transform"]
HEIGHT, WIDTH, EVERY, REPEATS = 34, 38, 11, 40


def drawn(rng):
    """Coloured blocks, a slope, and a little texture."""
    blocks = rng.integers(0, 200, (6, 7, 3)).repeat(6, axis=0).repeat(6, axis=1)[:HEIGHT, :WIDTH]
    slope = np.add.outer(np.arange(HEIGHT), np.arange(WIDTH))[..., None] // 2
    return np.clip(blocks + slope + rng.integers(0, 20, blocks.shape), 0, 255).astype(np.uint8)


def sampled(result):
    return [int(x) for x in np.uint8(result).ravel()[::EVERY]]


def statistics(result, original):
    """Mean, spread, difference between neighbours in a row, and difference from the original."""
    x, y = result.astype(float), original.astype(float)
    return [x.mean(), x.std(), np.abs(np.diff(x, axis=1)).mean(), np.abs(x - y).mean()]


def repeated(image, name, severity):
    rows = np.array([statistics(corrupt(image, severity, name), image) for _ in range(REPEATS)])
    error = rows.std(axis=0, ddof=1) / np.sqrt(REPEATS)
    return {"name": name.replace("_", "-"), "severity": severity, "mean": rows.mean(axis=0).tolist(), "error": error.tolist()}


def main():
    seed = int(sys.argv[1])
    np.random.seed(seed)
    image = drawn(np.random.default_rng(seed))
    settings = [(10, 3, 0.0), (15, 5, 30.0), (15, 8, -41.5), (20, 15, 12.25), (10, 4, -100.0)]
    streak = lambda radius, sigma, angle: np.clip(package._motion_blur(image, radius, sigma, angle), 0, 255)
    golden = {
        "made_with": f"imagecorruptions 1.1.2, seed {seed}",
        "height": HEIGHT, "width": WIDTH, "every": EVERY, "repeats": REPEATS,
        "image": image.ravel().tolist(),
        "deterministic": [{"name": n.replace("_", "-"), "severity": s, "sample": sampled(corrupt(image, s, n))}
                          for n in DETERMINISTIC for s in range(1, 6)],
        "streaks": [{"radius": r, "sigma": s, "degrees": a, "sample": sampled(streak(r, s, a))} for r, s, a in settings],
        "random": [repeated(image, n, s) for n in RANDOM for s in (1, 3, 5)],
    }
    print(json.dumps(golden, separators=(",", ":")).replace('{"name"', '\n{"name"'))


if __name__ == "__main__":
    main()
