#!/usr/bin/env python3
"""Prints how the instructions of an operation are distributed, as a row of a Markdown table.

    Benchmarks/shares.py TITLE COUNT PROFILE PROFILE   the shares of one operation, from Callgrind's profiles of COUNT
                                                       operations and of twice as many
    Benchmarks/shares.py --head                        the head of the table

Ends with status 1 if a share exceeds its limit.
"""

from __future__ import annotations

import re
import sys
from collections import Counter

# The classes, each with its largest share in percent; nil for none. The limits are those of the benchmark of both APIs.
CLASSES: dict[str, int | None] = {
    "own": None, "reference counts": 30, "exclusivity checks": 15, "copies and witnesses": 20, "memory": 20,
    "concurrency": None, "Dispatch": None, "Foundation": None, "the rest": None}

# Larger limits of single operations. Each manager has its own peripherals and its delegate, and counting references to
# an object with weak references costs more.
EXCEPTIONS: dict[str, dict[str, int]] = {"report to 20 managers": {"reference counts": 40}}

# The classes of functions, wherever they are.
FUNCTIONS = [
    ("memory", re.compile(
        r"_?_?(libc_)?(malloc|calloc|realloc|free|cfree|memalign|posix_memalign|aligned_alloc)\b"
        r"|_int_(malloc|free|realloc)|malloc_|unlink_chunk|sysmalloc|tcache"
        r"|swift_(slow)?([Aa]lloc|[Dd]ealloc)|swift_deallocClassInstance|swift_allocObject")),
    ("reference counts", re.compile(
        r"swift_(retain|release|bridgeObject|unknownObject|weak|isUnique)|.*RefCount|.*WO[rs]$")),
    ("exclusivity checks", re.compile(r"swift_(begin|end)Access|.*(AccessSet|SwiftTLSContext)")),
    ("copies and witnesses", re.compile(
        r".*(WO[a-qt-z]|w(cp|ca|ta|tk|xx|CP|UP)|TW)$|swift_array(Destroy|Init|Assign)"
        r"|.*[Mm]etadata|.*[Ww]itness|swift_dynamicCast|swift_getAssociated|swift_conformsTo")),
]
# The classes of the other functions, by the libraries that contain them.
LIBRARIES = [
    ("concurrency", "libswift_Concurrency"), ("Dispatch", "libdispatch"), ("Dispatch", "libswiftDispatch"),
    ("Foundation", "Foundation"), ("own", "faces")]


def kind(function: str, library: str) -> str:
    for name, pattern in FUNCTIONS:
        if pattern.match(function):
            return name
    return next((name for name, part in LIBRARIES if part in library), "the rest")


def instructions(path: str) -> Counter[str]:
    """The instructions of each class in a profile."""
    names: dict[tuple[str, str], str] = {}
    classes: dict[tuple[str, str], str] = {}
    total: Counter[str] = Counter()
    library = function = ""
    is_call = False

    def name(kind: str, text: str) -> str:
        # Names are written once, and then referred to by their numbers.
        number, _, written = text.partition(" ")
        if written:
            names[kind, number] = written
        return names.get((kind, number), number)

    with open(path, encoding="utf-8", errors="replace") as profile:
        for line in profile:
            line = line.rstrip("\n")
            if line.startswith("ob="):
                library = name("ob", line[3:])
            elif line.startswith("cob="):
                name("ob", line[4:])
            elif line.startswith("fn="):
                function = name("fn", line[3:])
            elif line.startswith("cfn="):
                name("fn", line[4:])
            elif line.startswith("calls="):
                is_call = True
            elif line[:1] in "0123456789+-*" and line:
                # The line after a call has the instructions of the callee.
                if not is_call and len(parts := line.split()) > 1:
                    key = (function, library)
                    if key not in classes:
                        classes[key] = kind(function, library)
                    total[classes[key]] += int(parts[1])
                is_call = False
    return total


def main() -> int:
    if sys.argv[1:] == ["--head"]:
        print(f"| share of the instructions, in percent | {' | '.join(CLASSES)} |")
        print(f"|---|{'--:|' * len(CLASSES)}")
        return 0
    title, count, once, twice = sys.argv[1:]
    first, second = instructions(once), instructions(twice)
    each = {name: (second[name] - first[name]) / int(count) for name in CLASSES}
    shares = {name: 100 * value / sum(each.values()) for name, value in each.items()}
    # Noise between the two runs can make a small share negative.
    print(f"| {title} | {' | '.join(f'{max(0, share):.0f}' for share in shares.values())} |")
    status = 0
    for name, most in (CLASSES | EXCEPTIONS.get(title, {})).items():
        if most is not None and shares[name] > most:
            taken = f"{shares[name]:.0f} % of the instructions, of {most} % allowed"
            print(f"{title}: {name} take {taken}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
