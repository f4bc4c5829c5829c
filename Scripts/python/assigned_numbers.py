"""Writes Sources/BluetoothNumbers/Lists from the lists that the Bluetooth SIG publishes; see Scripts/numbers."""

import argparse
import pathlib
import sys
import unicodedata
from collections.abc import Iterable, Iterator

import yaml

Entry = tuple[int, str]

# Names that Swift's declarations have, and where their entries are: files below `assigned_numbers`, the key of the list
# in each, and the key of the number in an entry.
LISTS = {
    "companies": [("company_identifiers/company_identifiers.yaml", "company_identifiers", "value")],
    "services": [("uuids/service_uuids.yaml", "uuids", "uuid")],
    "characteristics": [("uuids/characteristic_uuids.yaml", "uuids", "uuid")],
    "descriptors": [("uuids/descriptors.yaml", "uuids", "uuid")],
    "declarations": [("uuids/declarations.yaml", "uuids", "uuid")],
    "units": [("uuids/units.yaml", "uuids", "uuid")],
    "members": [("uuids/member_uuids.yaml", "uuids", "uuid"), ("uuids/sdo_uuids.yaml", "uuids", "uuid")],
    "appearances": [("core/appearance_values.yaml", "appearance_values", "category")],
    "adTypes": [("core/ad_types.yaml", "ad_types", "value")],
}

HEADER = """\
// Written by Scripts/numbers from the lists of the Bluetooth SIG.
// swift-format-ignore-file

extension AssignedNumbers {
    static let %s = NameList(#\"\"\"
"""
FOOTER = '        """#)\n}\n'


def tidy(name: str) -> str:
    """The name on one line, without characters that a terminal or Swift would interpret."""
    name = " ".join(str(name).split())
    for character in name:
        # Other than these, a name may have what it likes; "Cc" are control characters, "Cf" marks of direction.
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
            raise ValueError(f"{name!r} has the character {character!r}")
    if not name or '"""#' in name or "\\#" in name:
        raise ValueError(f"{name!r} is not a valid name for a list")
    return name


def appearances(category: dict) -> Iterator[Entry]:
    first = category["category"] << 6
    yield first, tidy(category["name"])
    for subcategory in category.get("subcategory", []):
        # Zero is "Generic", which the category's name says better.
        if subcategory["value"]:
            yield first | subcategory["value"], tidy(subcategory["name"])


def entries(directory: pathlib.Path, sources: Iterable[tuple[str, str, str]]) -> dict[int, str]:
    """The numbers of a list with their names, ascending. Of two names of one number the last is kept: only 0x10 of the
    advertising data types has two, and the first is not for advertising."""
    found: dict[int, str] = {}
    for path, key, number in sources:
        with (directory / path).open(encoding="utf-8") as file:
            for entry in yaml.safe_load(file)[key]:
                if number == "category":
                    found |= appearances(entry)
                else:
                    found[entry[number]] = tidy(entry["name"])
    if any(not 0 <= number <= 0xFFFF for number in found):
        raise ValueError(f"a number in {sources} does not fit into 16 bits")
    return dict(sorted(found.items()))


def swift(name: str, numbers: dict[int, str]) -> str:
    lines = (f"        {number:04X} {text}\n" for number, text in numbers.items())
    return HEADER % name + "".join(lines) + FOOTER


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a list would change")
    parser.add_argument("source", type=pathlib.Path, help="the directory `assigned_numbers`")
    parser.add_argument("target", type=pathlib.Path, help="the directory for the Swift files")
    arguments = parser.parse_args()

    changed = []
    for name, sources in LISTS.items():
        file = arguments.target / f"{name[0].upper()}{name[1:]}.swift"
        text = swift(name, entries(arguments.source, sources))
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            changed.append(file.name)
            if not arguments.check:
                file.write_text(text, encoding="utf-8")
    print("changed: " + ", ".join(changed) if changed else "nothing changed")
    sys.exit(1 if changed and arguments.check else 0)


if __name__ == "__main__":
    main()
