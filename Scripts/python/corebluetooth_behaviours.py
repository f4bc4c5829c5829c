"""Compares the table of Core Bluetooth's behaviors with the tests, which name their rows: "Row 12", "Rows 6, 7".

    corebluetooth_behaviours.py DOCUMENT TESTS            fails if the table's last column differs from the tests
    corebluetooth_behaviours.py DOCUMENT TESTS --renew    writes that column again: review the difference
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

ROW = re.compile(r"^\| (\d+) \|(.*)\| ([^|]*) \|$")
NAMED = re.compile(r"\bRows? (\d+(?:(?:, | and )\d+)*)")
NOWHERE = "–"


def files_by_row(tests: pathlib.Path) -> dict[int, list[str]]:
    """The files that name a row: `Central/Manager` for `Central/ManagerTests.swift`."""
    found: dict[int, set[str]] = {}
    for file in tests.rglob("*Tests.swift"):
        name = file.relative_to(tests).as_posix().removesuffix("Tests.swift")
        for rows in NAMED.findall(file.read_text(encoding="utf-8")):
            for row in re.findall(r"\d+", rows):
                found.setdefault(int(row), set()).add(name)
    return {row: sorted(names) for row, names in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("tests", type=pathlib.Path)
    parser.add_argument("--renew", action="store_true")
    arguments = parser.parse_args()
    named = files_by_row(arguments.tests)
    lines = arguments.document.read_text(encoding="utf-8").splitlines()
    rows: set[int] = set()
    wrong = 0
    for index, line in enumerate(lines):
        match = ROW.match(line)
        if not match:
            continue
        row = int(match[1])
        rows.add(row)
        column = ", ".join(named.get(row, [])) or NOWHERE
        if match[3] == column:
            continue
        lines[index] = f"| {row} |{match[2]}| {column} |"
        wrong += 1
        if not arguments.renew:
            print(f"row {row} of {arguments.document}: the tests are {column}, not {match[3]}; "
                  "renew: Scripts/check-corebluetooth --renew", file=sys.stderr)
    for row in sorted(named.keys() - rows):
        print(f"tests name row {row}, which {arguments.document} lacks: {', '.join(named[row])}", file=sys.stderr)
    if arguments.renew:
        arguments.document.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        wrong = 0
    print(f"{len(named.keys() & rows)} of {len(rows)} behaviors of CoreBluetooth are tested")
    return 1 if wrong or named.keys() - rows else 0


if __name__ == "__main__":
    sys.exit(main())
