"""Checks that a user of a product needs a single import.

Every type that a public signature of a product's module names must be exported by that module: it is declared there, or
`Exports.swift` re-exports it. See Scripts/documentation.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from libraries import libraries

ROOT = Path(__file__).resolve().parents[2]
# Users of layers import each module that they use. Combine and os re-export whole modules.
OTHERS = {"BluetoothLayers", "Combine", "os"}
EXPORT = re.compile(r"^@_exported import (?:(?:struct|class|enum|protocol|actor|typealias|func) (\w+)\.(\w+)|(\w+))$")


class Graphs:
    """The public symbols of all modules, by their precise identifiers."""

    def __init__(self, directory: Path) -> None:
        self.symbols: dict[str, list[dict[str, Any]]] = {}
        # The module and the outermost type of each symbol.
        self.places: dict[str, tuple[str, str]] = {}
        for file in sorted(directory.glob("*/*.symbols.json")):
            graph = json.loads(file.read_text())
            module = graph["module"]["name"]
            for symbol in graph["symbols"]:
                self.symbols.setdefault(module, []).append(symbol)
                # A file named Module@Other.symbols.json contains the extensions of Other's types.
                if "@" not in file.name:
                    self.places[symbol["identifier"]["precise"]] = (module, symbol["pathComponents"][0])

    def uses(self, module: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """The public symbols of a module, and the types that their signatures name."""
        for symbol in self.symbols.get(module, []):
            for fragment in symbol.get("declarationFragments", []):
                place = self.places.get(fragment.get("preciseIdentifier", ""))
                if place:
                    yield ".".join(symbol["pathComponents"]), place


def exports(module: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The modules and the types that a module re-exports."""
    modules, types = {module}, set()
    file = ROOT / "Sources" / module / "Exports.swift"
    for line in file.read_text().splitlines() if file.exists() else []:
        if match := EXPORT.match(line):
            if match[3]:
                modules.add(match[3])
            else:
                types.add((match[1], match[2]))
    return modules, types


def unexported(directory: Path) -> list[str]:
    """One line for each type that a product's module should export."""
    graphs = Graphs(directory)
    lines = []
    for product, names in libraries().items():
        if product in OTHERS:
            continue
        for module in names:
            modules, types = exports(module)
            needed: dict[tuple[str, str], str] = {}
            for symbol, place in graphs.uses(module):
                if place[0] not in modules and place not in types:
                    needed.setdefault(place, symbol)
            lines += [
                f"Sources/{module}/Exports.swift: export {origin}.{name}, which the signature of {symbol} names"
                for (origin, name), symbol in sorted(needed.items())
            ]
    return lines
