"""Writes what a release contains as CycloneDX 1.6 JSON: every crate that is compiled in, with licence and checksum.

    python3 packaging/sbom.py --package offnominal --target x86_64-unknown-linux-gnu --out target/sbom.json

Only dependencies that are compiled into the product are listed: none of tests, and none of build scripts. The same
sources give the same bytes, so the list carries no time and no random serial number.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent


def metadata(target):
    """What cargo knows of the workspace for a platform."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def checksums():
    """SHA-256 of each crate of a registry, by name and version, from the lock file."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}


def compiled_in(graph, root):
    """The ids of everything that is compiled into a package, and of each what it needs itself."""
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    needs, open_ = {}, [root]
    while open_:
        id_ = open_.pop()
        if id_ in needs:
            continue
        normal = [d for d in nodes[id_]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
        needs[id_] = sorted(d["pkg"] for d in normal)
        open_ += needs[id_]
    return needs


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    """One crate; the workspace's own have no checksum, because no registry has them."""
    made = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["license"]:
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if sum_ := sums.get((package["name"], package["version"])):
        made["hashes"] = [{"alg": "SHA-256", "content": sum_}]
    return made


def bill(graph, name):
    packages = {package["id"]: package for package in graph["packages"]}
    roots = [id_ for id_ in graph["workspace_members"] if packages[id_]["name"] == name]
    if not roots:
        sys.exit(f"sbom: --package: expected a member of the workspace, found {name!r}")
    needs, sums = compiled_in(graph, roots[0]), checksums()
    product = component(packages[roots[0]], sums) | {"type": "application"}
    others = sorted((packages[id_] for id_ in needs if id_ != roots[0]), key=purl)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": product},
        "components": [component(package, sums) for package in others],
        "dependencies": [
            {"ref": purl(packages[id_]), "dependsOn": [purl(packages[d]) for d in needs[id_]]}
            for id_ in sorted(needs, key=lambda id_: purl(packages[id_]))
        ],
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--package", default="offnominal", help="offnominal is the binary, offnominal-py the wheel")
    arguments.add_argument("--target", default="x86_64-unknown-linux-gnu")
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    made = bill(metadata(given.target), given.package)
    unknown = [c["name"] for c in made["components"] if "licenses" not in c]
    if unknown:
        sys.exit(f"sbom: expected a licence of every crate, found none of {', '.join(unknown)}")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    print(f"{given.out}: {len(made['components'])} crates in {given.package}")


if __name__ == "__main__":
    main()
