"""The libraries that Package.swift offers, and the modules in each of them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = re.compile(r'\.library\(\s*name: "(\w+)",\s*targets: \[([^]]*)\]')


def libraries() -> dict[str, list[str]]:
    """The modules of each product, in the order of the manifest."""
    manifest = (ROOT / "Package.swift").read_text()
    return {name: re.findall(r'"(\w+)"', targets) for name, targets in LIBRARY.findall(manifest)}
