#!/usr/bin/env python3
"""Determines the order in which the reference's modules are converted, and checks every link in it.

See Scripts/documentation.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exports import unexported
from libraries import libraries

ROOT = Path(__file__).resolve().parents[2]
# The width that fits into a page's column without scrolling, in Chromium at a width of 1280 pixels.
LONGEST_CODE_LINE = 76


def order() -> list[str]:
    """The Swift modules of all products, each after the modules that its sources import."""
    # Two are C modules that re-export a Swift module.
    modules = {name for names in libraries().values() for name in names} - {"Combine", "os"}
    imports = {
        module: {
            name
            for path in (ROOT / "Sources" / module).rglob("*.swift")
            for name in re.findall(r"^(?:@\w+ )?import (?:\w+ )?(\w+)", path.read_text(), re.MULTILINE)
        } & modules - {module}
        for module in modules
    }  # fmt: skip
    ordered: list[str] = []
    while len(ordered) < len(modules):
        ready = [m for m in sorted(modules) if m not in ordered and imports[m] <= set(ordered)]
        if not ready:
            sys.exit("Scripts/documentation: the modules import each other in a circle")
        ordered += ready
    return ordered


def objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from objects(child)


def module_of(identifier: str) -> str | None:
    """The module of a Swift symbol, by its mangled name: `s:12BluetoothGAP10ScanFilterV`."""
    match = re.match(r"s:(\d+)(\w+)", identifier)
    return match[2][: int(match[1])] if match else None


def check_page(path: Path, pages: set[str], modules: set[str]) -> Iterator[str]:
    page = json.loads(path.read_text())
    for reference in page.get("references", {}).values():
        # Those of Swift's own libraries, such as conformances, have their pages elsewhere.
        if reference.get("type") == "unresolvable" and reference.get("title", "").split(".")[0] in modules:
            yield f"{reference.get('title')} leads nowhere"
        url = reference.get("url", "")
        if url.startswith("/") and url.split("#")[0].lower() not in pages:
            yield f"{url} leads nowhere"
    # Guides are also read elsewhere, so their code may scroll.
    is_guide = path.parent.name == "guides"
    for node in objects([page.get("primaryContentSections"), page.get("abstract")]):
        if node.get("type") == "codeListing" and not is_guide:
            for line in node["code"]:
                if len(line) > LONGEST_CODE_LINE:
                    yield f"a line of code has {len(line)} characters, of which {LONGEST_CODE_LINE} fit: {line.strip()}"
        if node.get("kind") == "typeIdentifier" and "identifier" not in node:
            if module_of(node.get("preciseIdentifier", "")) in modules:
                yield f"the type {node['text']} has no page"


def check_markdown(path: Path) -> Iterator[str]:
    """The links of a guide to files and headings of this repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)):
        if re.match(r"\w+:", target):
            continue
        file, _, heading = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        if not place.exists():
            yield f"{target} leads nowhere"
        elif heading and heading not in headings(place.read_text()):
            yield f"{target}: there is no such heading"


def headings(text: str) -> set[str]:
    found = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


def check(archive: Path, modules: set[str]) -> None:
    data = archive / "data"
    paths = sorted(data.rglob("*.json"))
    pages = {"/" + str(path.relative_to(data).with_suffix("")).lower() for path in paths}
    wrong = [f"{path.relative_to(data)}: {line}" for path in paths for line in check_page(path, pages, modules)]
    guides = [*ROOT.glob("*.md"), *ROOT.glob("Documentation/*.md"), *ROOT.glob("*/README.md")]
    wrong += [f"{path.relative_to(ROOT)}: {line}" for path in sorted(guides) for line in check_markdown(path)]
    if not (data / "documentation/guides").is_dir():
        wrong.append("no pages of the guides")
    if missing := [module for module in sorted(modules) if f"/documentation/{module.lower()}" not in pages]:
        wrong.append(f"no page of {', '.join(missing)}")
    wrong += unexplained_errors()
    if wrong:
        sys.exit("\n".join(["Scripts/documentation:", *wrong[:100]]))
    print(f"{len(pages)} pages of {len(modules)} modules, no broken links")


def unexplained_errors() -> list[str]:
    """The codes of BluetoothError that the article on errors does not explain."""
    source = (ROOT / "Sources/BluetoothAdapter/BluetoothError+Codes.swift").read_text()
    article = (ROOT / "Sources/BluetoothLE/BluetoothLE.docc/Articles/Errors.md").read_text()
    codes = re.findall(r"static let (\w+) = Code\(", source)
    if not codes:
        return ["BluetoothError+Codes.swift: no codes found"]
    return [f"Errors.md: {code} is not explained" for code in codes if f"| `{code}` |" not in article]


if __name__ == "__main__":
    if sys.argv[1] == "order":
        print("\n".join(order()))
    elif sys.argv[1] == "exports":
        if lines := unexported(Path(sys.argv[2])):
            sys.exit("\n".join(["Scripts/documentation:", *lines]))
    else:
        check(Path(sys.argv[2]), set(sys.argv[3:]))
