"""Prints the measurements of Scripts/coverage as Markdown: python3 coverage_page.py FOLDER WORLDS."""

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ["BluetoothHost", "BluetoothUsers", "BluetoothGATT", "BluetoothL2CAP", "BluetoothATT", "BluetoothSMP"]
#: For each file and each line with code, whether the line was reached.
Lines = dict[str, dict[int, bool]]


def read(path: Path) -> Lines:
    """The coverage of the files of these targets, from an export of llvm-cov."""
    files: Lines = defaultdict(dict)
    file = None
    for line in path.read_text().splitlines():
        key, _, rest = line.partition(":")
        if key == "SF":
            name = Path(rest).resolve()
            inside = name.is_relative_to(ROOT / "Sources") and name.relative_to(ROOT / "Sources").parts[0] in TARGETS
            file = str(name.relative_to(ROOT / "Sources")) if inside else None
        elif key == "DA" and file:
            number, count = rest.split(",")[:2]
            # A generic function occurs several times.
            files[file][int(number)] = files[file].get(int(number), False) or int(count) > 0
    return files


def share(files: Lines, target: str) -> str:
    lines = [hit for name, hits in files.items() if name.split("/")[0] == target for hit in hits.values()]
    return f"{100 * sum(lines) / len(lines):.1f} %" if lines else "–"


def ranges(hits: dict[int, bool]) -> list[str]:
    """The lines that were not reached, with consecutive lines merged into ranges."""
    found: list[list[int]] = []
    previous_missed = False
    for number in sorted(hits):
        if hits[number]:
            previous_missed = False
            continue
        if previous_missed:
            found[-1][1] = number
        else:
            found.append([number, number])
        previous_missed = True
    return [str(first) if first == last else f"{first}–{last}" for first, last in found]


def source(name: str, number: int) -> str:
    text = (ROOT / "Sources" / name).read_text().splitlines()[number - 1].strip()
    return text if len(text) <= 70 else text[:67] + "..."


def main() -> None:
    folder, worlds = Path(sys.argv[1]), int(sys.argv[2])
    tests, simulation, both = (read(folder / f"{name}.lcov") for name in ("tests", "worlds", "all"))
    print(f"""# Coverage

This page shows the line coverage of the core: by its unit tests, by {worlds:,} simulated worlds (seeds
0..{worlds - 1}), and by both together. `Scripts/coverage` measures the coverage with `llvm-cov` and writes this page.

Coverage shows which lines run, but not whether a test would detect a bug in them. [Mutants.md](Mutants.md) shows how
many bugs are detected.

| target | lines | tests | worlds | both |
|---|--:|--:|--:|--:|""")
    for target in TARGETS:
        count = sum(len(hits) for name, hits in both.items() if name.split("/")[0] == target)
        print(f"| `{target}` | {count:,} | {share(tests, target)} | {share(simulation, target)} | {share(both, target)} |")
    print("""
## Lines not reached

The table lists the unreached lines of each file, and shows the first one as an example. The line numbers date from the
measurement.

| file | lines | first line |
|---|---|---|""")
    for target in TARGETS:
        for name in sorted(both):
            missed = ranges(both[name])
            if name.split("/")[0] == target and missed:
                first = source(name, int(missed[0].split("–")[0])).replace("|", "\\|")
                print(f"| `{name}` | {', '.join(missed)} | `{first}` |")


main()
