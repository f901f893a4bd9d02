"""Shortens the output of bindgen to what this crate reads: `python3 trim_bindings.py < long.rs > src/bindings.rs`.

A structure keeps its layout: neighbouring fields of one type that no source file reads become one array. Constants that
no source file names, and all methods of functions but the one that looks them up, are left out.
"""

import pathlib
import re
import sys

SOURCES = [p for p in pathlib.Path(__file__).parent.glob("src/**/*.rs") if p.name != "bindings.rs"]
CODE = re.sub(r"//.*", "", "\n".join(p.read_text() for p in SOURCES))
NAMED = set(re.findall(r"\w+", CODE))
# A field is read after a dot, or listed in one of the tables of arrays: `name: count * width`.
READ = set(re.findall(r"\.(\w+)", CODE)) | set(
    re.findall(r"\w+", " ".join(re.findall(r"^ +(\w.*) \* \d+;$", CODE, re.M)))
)
SCALARS = {
    "mjtNum",
    "mjtByte",
    "mjtBool",
    "mjtSize",
    "f32",
    "usize",
    "u64",
    "::core::ffi::c_int",
    "::core::ffi::c_char",
}


def elements(kind: str) -> tuple[str, int]:
    """The element of a field's type, and how many there are; all pointers have one size and alignment."""
    array = re.fullmatch(r"\[(.+); (\d+)usize\]", kind)
    element, count = (array[1], int(array[2])) if array else (kind, 1)
    return ("*mut ::core::ffi::c_void" if element.startswith("*") else element), count


def folded(fields: list[tuple[str, str]]) -> list[str]:
    """The lines of a structure's fields, with the unnamed ones as arrays."""
    found: list[tuple[str, str, int]] = []
    for name, kind in fields:
        element, count = elements(kind)
        foldable = name not in READ and (element in SCALARS or element.startswith("*"))
        if foldable and found and found[-1][:2] == ("", element):
            found[-1] = ("", element, found[-1][2] + count)
        else:
            found.append(("", element, count) if foldable else (name, kind, 0))
    return [
        f"    pub {name}: {kind}," if name else f"    unread{at}: [{kind}; {count}usize],"
        for at, (name, kind, count) in enumerate(found)
    ]


def structure(text: re.Match[str]) -> str:
    """A structure of C with its unnamed fields folded."""
    fields = re.findall(r"^    pub (\w+): (.+),$", text[2], re.M)
    return "\n".join([text[1], *folded(fields), "}"])


def main() -> None:
    """Shortens what is on the standard input."""
    text = sys.stdin.read()
    text = re.sub(r"^(#\[repr\(C\)\]\npub struct \w+ \{)\n(.*?)^\}", structure, text, flags=re.M | re.S)
    text = re.sub(r"^pub const (\w+): .*\n", lambda m: m[0] if m[1] in NAMED else "", text, flags=re.M)
    text = re.sub(r"^    pub unsafe fn (new|mjs?[uv]?_).*?^    \}\n", "", text, flags=re.M | re.S)
    text = re.sub(r"^impl.* Default for .*?^\}\n|^pub use .*\n", "", text, flags=re.M | re.S)
    # Each function is looked up where its field is filled in, the library itself last.
    looked_up = dict(re.findall(r"^        let (mj\w+) = (.*);\n", text, re.M))
    text = re.sub(r"^        let mj.*\n", "", text, flags=re.M)
    text = re.sub(r"^            (mj\w+),$", lambda m: f"            {m[1]}: {looked_up[m[1]]},", text, flags=re.M)
    text = re.sub(r"( +__library,\n)(.*?)(^        \}\))", r"\2\1\3", text, flags=re.M | re.S)
    sys.stdout.write(text)


main()
