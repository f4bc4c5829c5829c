"""Reports the results of a run, as Markdown and as JSON."""

import json
from dataclasses import asdict
from pathlib import Path

from building import Mutant
from catalogue import Bug
from killing import Outcome, Stage


class Report:
    """Collects the results of each mutant."""

    def __init__(self, mutants: list[Mutant], bugs: list[Bug], candidates: dict[str, int], excluded: int, seed: int):
        self.mutants, self.candidates, self.excluded, self.seed = mutants, candidates, excluded, seed
        self.bugs = {bug.name: bug for bug in bugs}
        self.outcomes: dict[int, list[Outcome]] = {}

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Adds the result of a mutant in the next stage."""
        self.outcomes.setdefault(mutant.id, []).append(outcome)

    def is_open(self, mutant: Mutant, stage: Stage) -> bool:
        """Whether nothing has found a mutant yet, and it has not run in this stage."""
        return not self.killer(mutant) and all(one.stage.title != stage.title for one in self.outcomes.get(mutant.id, []))

    def resume(self, directory: Path) -> None:
        """Adopts the results of an earlier run for the same mutants."""
        path = directory / "report.json"
        known = {entry["key"]: entry for entry in json.loads(path.read_text())} if path.exists() else {}
        for mutant in self.mutants:
            for stage in known.get(mutant.key, {}).get("stages", []):
                seeds = range(stage["worlds"])
                self.add(mutant, Outcome(Stage(stage["kind"], stage["title"], [], seeds), stage["found"], 0))

    def killer(self, mutant: Mutant, kind: str | None = None) -> Outcome | None:
        """What found it, of one kind or of any."""
        for outcome in self.outcomes.get(mutant.id, []):
            if outcome.found and kind in (None, outcome.stage.kind):
                return outcome
        return None

    def worlds(self, mutant: Mutant) -> int:
        return sum(outcome.stage.worlds for outcome in self.outcomes.get(mutant.id, []))

    def split(self) -> tuple[list[Mutant], list[Mutant]]:
        """Those that were run: named and mechanical."""
        done = [mutant for mutant in self.mutants if mutant.id in self.outcomes]
        return [mutant for mutant in done if mutant.name], [mutant for mutant in done if not mutant.name]

    def totals(self) -> list[str]:
        lines = []
        named, mechanical = self.split()
        shown = [mutant for mutant in named if not self.bugs[mutant.name].by_tests]
        hidden = [mutant for mutant in named if self.bugs[mutant.name].by_tests]
        groups = (("named", shown), ("named, not for simulation", hidden), ("mechanical", mechanical))
        for title, group in groups:
            if not group:
                continue
            by_simulation = sum(self.killer(mutant, "simulation") is not None for mutant in group)
            by_any = sum(self.killer(mutant) is not None for mutant in group)
            lines.append(
                f"{title}: {len(group)}, found by simulation {by_simulation} ({percent(by_simulation, group)}),"
                f" by simulation and tests {by_any} ({percent(by_any, group)})")
        return lines

    def markdown(self) -> str:
        named, mechanical = self.split()
        text = ["# Mutants", "", *(f"- {line}" for line in self.totals())]
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.candidates.items()))
        text += [
            f"- drawn with seed {self.seed} from {sum(self.candidates.values())} places: {kinds}",
            f"- {self.excluded} places drawn before were left out, since they do not compile",
            "",
        ]
        if named:
            text += ["## Named", "", "| bug | what it is | found by |", "|---|---|---|"]
            text += [
                f"| {mutant.name} | {self.bugs[mutant.name].bug} | {self.verdict(mutant)} |" for mutant in named
            ]
            text.append("")
        survivors = [mutant for mutant in mechanical if not self.killer(mutant)]
        if survivors:
            text += ["## Mechanical, found by nothing", "", "| place | change |", "|---|---|"]
            text += [f"| {mutant.place} | {cell(mutant.change)} |" for mutant in survivors]
            text.append("")
        found = [mutant for mutant in mechanical if self.killer(mutant)]
        if found:
            text += ["## Mechanical, found", "", "| place | change | found by |", "|---|---|---|"]
            text += [f"| {mutant.place} | {cell(mutant.change)} | {self.verdict(mutant)} |" for mutant in found]
        return "\n".join(text) + "\n"

    def verdict(self, mutant: Mutant) -> str:
        killer = self.killer(mutant)
        if not killer:
            return "nothing"
        return f"{killer.stage.kind}, {cell(killer.found)}"

    def save(self, directory: Path) -> None:
        (directory / "report.md").write_text(self.markdown())
        entries = []
        for mutant in self.mutants:
            if mutant.id not in self.outcomes:
                continue
            killer = self.killer(mutant)
            entries.append(
                asdict(mutant)
                | {"killed_by": killer.stage.kind if killer else None, "how": killer.found if killer else None}
                | {"worlds": self.worlds(mutant)}
                | {"stages": [
                    {"kind": one.stage.kind, "title": one.stage.title, "worlds": one.stage.worlds, "found": one.found}
                    for one in self.outcomes[mutant.id]]})
        (directory / "report.json").write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


def percent(part: int, group: list) -> str:
    return f"{100 * part / len(group):.0f} %"


def cell(text: str) -> str:
    return text.replace("|", "\\|")
