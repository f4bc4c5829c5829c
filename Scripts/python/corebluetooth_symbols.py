"""Compares the public symbols of the module CoreBluetooth with the list of symbols that applications may use.

    corebluetooth_symbols.py GRAPH LIST            fails if one is missing or declared differently
    corebluetooth_symbols.py GRAPH LIST --renew    writes the list again: review the difference

A line of the list is a symbol: its kind and name, its declaration, and `deprecated` where it is.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys

# Declared in addition to Apple's symbols: the selection of an adapter on Linux, and support for casting errors.
OURS = ("BluetoothEnvironment", "BluetoothPairing", "BluetoothTransport", "dispatch_queue_t")
# Members that imported errors and enumerations have without being listed anywhere.
UNLISTED = re.compile(
    r"^CB(ATT)?Error\.(code|init\(_:userInfo:\)|userInfo|errorCode|errorUserInfo|localizedDescription|hash\(into:\)|==\(.*"
    r"|_.*|Code\.(~=\(.*|hash\(into:\)|_other.*|rawValue))$"
    r"|^CB(Peer|Peripheral)\.value\(forKey:\)$"
    r"|^CB(Peer|UUID)\.copy\(with:\)$|^CBUUID\.init\(\)$|\.rawValue$|\.(isEqual\(_:\)|hash|description)$|\._.*")


def symbols(graph: pathlib.Path) -> set[str]:
    """The symbols that the module itself declares: kind and name, declaration, and whether it is deprecated."""
    found: set[str] = set()
    for symbol in json.loads(graph.read_text(encoding="utf-8"))["symbols"]:
        path = ".".join(symbol["pathComponents"])
        is_default = "swiftExtension" in symbol and symbol["pathComponents"][0].endswith("Delegate")
        if "::SYNTHESIZED::" in symbol["identifier"]["precise"] or is_default:
            continue
        if symbol["pathComponents"][0] in OURS or UNLISTED.search(path):
            continue
        declaration = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
        # Methods imported from Objective-C have discardable results without saying so.
        declaration = declaration.removeprefix("@discardableResult ")
        # Internal parameter names do not matter.
        declaration = re.sub(r"(?<=[(,] )(\w+) \w+(?=:)|(?<=\()(\w+) \w+(?=:)",
                             lambda match: match.group(1) or match.group(2), declaration)
        is_deprecated = any("isUnconditionallyDeprecated" in one for one in symbol.get("availability", []))
        found.add(f"{symbol['kind']['identifier'].removeprefix('swift.')} {path} | {' '.join(declaration.split())}"
                  + (" | deprecated" if is_deprecated else ""))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", type=pathlib.Path)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--renew", action="store_true")
    arguments = parser.parse_args()
    found = symbols(arguments.graph)
    if arguments.renew:
        arguments.list.write_text("".join(f"{line}\n" for line in sorted(found)), encoding="utf-8")
        print(f"{len(found)} symbols")
        return 0
    expected = set(arguments.list.read_text(encoding="utf-8").splitlines())
    for line in sorted(expected - found):
        print(f"missing, or declared differently: {line}", file=sys.stderr)
    for line in sorted(found - expected):
        print(f"not in the list: {line}", file=sys.stderr)
    print(f"{len(found & expected)} of {len(expected)} symbols of CoreBluetooth")
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
