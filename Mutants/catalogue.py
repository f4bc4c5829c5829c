"""The named bugs of Mutants/named.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "Mutants" / "named.toml"


class CatalogueError(Exception):
    """The catalogue does not fit the sources."""


@dataclass
class Bug:
    """A named bug, which replaces `original`, which occurs exactly once in `file`, with `replacement`."""

    name: str
    bug: str
    file: str
    original: str
    replacement: str
    #: Why no simulated world can show the bug; usually empty.
    by_tests: str = ""

    def problem(self) -> str | None:
        """The reason why the bug cannot be inserted, or None."""
        path = ROOT / self.file
        if not path.is_file():
            return f"there is no {self.file}"
        count = path.read_text().count(self.original)
        if count != 1:
            return f"its original text is in {self.file} {count} times, not once"
        if self.original == self.replacement:
            return "its replacement is its original text"
        return None


def load() -> list[Bug]:
    """All of them, in the order of the file; raises CatalogueError if one does not fit the sources."""
    with CATALOGUE.open("rb") as file:
        entries = tomllib.load(file)["mutant"]
    bugs = [Bug(**entry) for entry in entries]
    names = [bug.name for bug in bugs]
    problems = [f"{name}: named twice" for name in sorted(set(names)) if names.count(name) > 1]
    problems += [f"{bug.name}: {problem}" for bug in bugs if (problem := bug.problem())]
    if problems:
        raise CatalogueError("\n".join(f"Mutants/named.toml: {problem}" for problem in problems))
    return bugs
