#!/usr/bin/env python3
"""Preprocessor of the documentation site: `mdbook build` calls it, as book.toml says.

It gives the book the pages that lie outside docs/ and one page per environment, and it checks every relative link of the
repository's Markdown. A link to a missing file or heading ends the build with an error. A link to a file that is no page
of the book, such as a source file, becomes text.
"""

import base64
import functools
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The pages outside docs/, by their draft chapter in docs/SUMMARY.md.
OUTSIDE = {
    "Architecture": "ARCHITECTURE.md",
    "Contributing": "CONTRIBUTING.md",
    "Changelog": "CHANGELOG.md",
    "Security": "SECURITY.md",
    "Results: images": "studies/images/README.md",
    "Results: pixels": "studies/pixels/README.md",
    "Results: pixels, order of methods": "studies/pixels/order.md",
    "The vector benchmark: all tables": "studies/vector/README.md",
    "OOD detection: policies and tables": "studies/ood-rl/README.md",
    "Results: machines": "studies/real/README.md",
    "Results: plants and drones": "studies/logs/README.md",
    "Results: faults that no status reports": "studies/silent-faults/README.md",
    "Results: gaps": "studies/gaps/README.md",
    "Results: environments of others": "studies/foreign/README.md",
    "Results: generative policies": "studies/generative/README.md",
    "Results: compare": "studies/compare/README.md",
    "Results: risk": "studies/risk/README.md",
    "Results: shift": "studies/shift/README.md",
    "Results: shift, all tables": "studies/shift/summary.md",
    "Published figures": "studies/published/README.md",
}
CHECKED = ["*.md", "docs/**/*.md", "studies/**/*.md", "crates/*/README.md"]
#: The branch with the badges, as the page of the repository sees it; the book has none.
BADGES = "../../raw/badges/"
CODE = re.compile(r"^(```|~~~).*?^\1|`+[^`\n]*`+", re.M | re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def slug(heading):
    """The id of a heading, as mdBook and GitHub make it."""
    return "".join(c for c in heading.strip().lower().replace(" ", "-") if c.isalnum() or c in "-_")


@functools.cache
def anchors(path):
    """The ids of a page's headings; a repeated one gets a number."""
    text = re.sub(r"^(```|~~~).*?^\1", "", path.read_text(), flags=re.M | re.S)
    slugs = [slug(LINK.sub(r"\2", heading)) for heading in re.findall(r"^#+ +(.*)", text, re.M)]
    before = [slugs[:i].count(s) for i, s in enumerate(slugs)]
    return {f"{s}-{n}" if n else s for s, n in zip(slugs, before)}


def each_link(text, replace):
    """Calls `replace` for each relative link outside code, and puts what it returns in its place."""
    code = [span.span() for span in CODE.finditer(text)]

    def each(match):
        is_code = any(a <= match.start() and match.end() <= b for a, b in code)
        return match[0] if is_code or re.match(r"[a-z]+:", match[3]) else replace(match)

    return LINK.sub(each, text)


def target(source, link):
    """The file and the anchor that a link of a file means."""
    path, _, anchor = link.partition("#")
    return Path(os.path.normpath(source.parent / path)) if path else source, anchor


def broken_links(source):
    found = []

    def check(match):
        if match[3].startswith(BADGES):
            return match[0]
        path, anchor = target(source, match[3])
        is_heading = not anchor or path.suffix != ".md" or anchor in anchors(path)
        if not path.exists() or not is_heading:
            found.append(f"{source.relative_to(ROOT)}: {match[3]} does not exist")
        return match[0]

    each_link(source.read_text(), check)
    return found


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def add_outside(chapter):
    """Fills a draft chapter."""
    source = ROOT / OUTSIDE[chapter["name"]]
    name = str(source.relative_to(ROOT)).lower().replace("/readme.md", ".md")
    chapter.update(content=source.read_text(), path=name, source_path=str(source))


def add_environments(chapter):
    """Fills the draft chapter of the environments: a list, and the card of each below it."""
    sources = sorted((ROOT / "docs/reference/environments").glob("*.md"))
    listed = "".join(f"- [{source.stem}](environments/{source.name})\n" for source in sources)
    path = "reference/environments.md"
    chapter.update(content=f"# Environments\n\n{listed}", path=path, source_path=path)
    for source in sources:
        path = f"reference/environments/{source.name}"
        card = {"name": source.stem, "content": source.read_text(), "number": None, "sub_items": [], "path": path}
        card.update(source_path=path, parent_names=chapter["parent_names"] + [chapter["name"]])
        chapter["sub_items"].append({"Chapter": card})


def source_of(chapter):
    return ROOT / "docs" / chapter["source_path"]


def embedded(image):
    """An image that lies outside docs/, which mdBook does not copy."""
    kind = "svg+xml" if image.suffix == ".svg" else image.suffix[1:]
    return f"data:image/{kind};base64,{base64.b64encode(image.read_bytes()).decode()}"


def rewrite(chapter, pages):
    """Makes a page's links those of the book."""
    here = Path(chapter["path"]).parent

    def replace(match):
        path, anchor = target(source_of(chapter), match[3])
        if match[1]:
            is_copied = path.is_relative_to(ROOT / "docs")
            image = os.path.relpath(path, ROOT / "docs" / here) if is_copied else embedded(path)
            return f"![{match[2]}]({image})"
        page = pages.get(path)
        if page is None:
            return match[2]
        link = os.path.relpath(page, here) + (f"#{anchor}" if anchor else "")
        return f"[{match[2]}]({link})"

    chapter["content"] = each_link(chapter["content"], replace)


def complaints(pages):
    """Links that lead nowhere, and pages that are not in the book."""
    sources = sorted({path for pattern in CHECKED for path in ROOT.glob(pattern)})
    broken = [line for source in sources for line in broken_links(source)]
    unlisted = set((ROOT / "docs").rglob("*.md")) - set(pages) - {ROOT / "docs/SUMMARY.md"}
    return broken + [f"{path.relative_to(ROOT)}: not in docs/SUMMARY.md" for path in sorted(unlisted)]


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    book = json.load(sys.stdin)[1]
    for chapter in list(chapters(book["items"])):
        if chapter["name"] == "Environments":
            add_environments(chapter)
        elif chapter["path"] is None:
            add_outside(chapter)
    pages = {source_of(chapter): chapter["path"] for chapter in chapters(book["items"])}
    # The folder of cards is a page of the book.
    pages[ROOT / "docs/reference/environments"] = "reference/environments.md"
    if wrong := complaints(pages):
        sys.exit("\n".join(wrong))
    for chapter in chapters(book["items"]):
        rewrite(chapter, pages)
    json.dump(book, sys.stdout)


main()
