"""Compares the ledger of test cases with the tests: see Scripts/conformance."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROW = re.compile(r"^\| (?P<case>[A-Z0-9]+(?:/[A-Z0-9-]+)+) \| (?P<asks>.*) \| .* \| (?P<test>.*) \|$")
TOTAL = re.compile(
    r"^\| \*\*(?P<group>[A-Z0-9/]+)\*\* \| (?P<all>\d+) \| (?P<test>\d+) \| (?P<elsewhere>\d+) \| (?P<no>\d+) \|$")
NAMED = re.compile(r"`([A-Za-z]+Tests\.[^`]+)`")
KINDS = ("test", "elsewhere", "no")


def rows(text):
    """The cases, each with its kind and the tests that its row names.

    The kinds are `test`, where the named test does what the case asks, `elsewhere`, where tests cover it in another way, and
    `no`. A row whose meaning is a guess says so, and counts as `no` whatever it names.
    """
    for line in text.splitlines():
        if match := ROW.match(line):
            test = match["test"].strip()
            kind = next((kind for kind in ("no", "elsewhere") if test.startswith(kind + ": ")), "test")
            names = [test.strip("`").replace("``", "")] if kind == "test" else NAMED.findall(test)
            yield match["case"], "no" if match["asks"].startswith("Guessed: ") else kind, names


def plain(name):
    """A test's name without the text around it: `Suite/test(_:)` in any spelling."""
    return re.sub(r"\(.*?\)$", "", name.replace("`", ""))


def run(names):
    """Runs the suites of some tests, and returns the names of those that passed."""
    suites = sorted({name.rsplit("/", 1)[0] if "/" in name else name for name in names})
    pattern = "^(" + "|".join(re.escape(suite) for suite in suites) + ")/"
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.xml")
        subprocess.run(
            ["swift", "test", "--skip-build", "--disable-xctest", "--xunit-output", report, "--filter", pattern],
            check=True, stdout=subprocess.DEVNULL)
        passed = set()
        for name in os.listdir(scratch):
            for case in xml.etree.ElementTree.parse(os.path.join(scratch, name)).iter("testcase"):
                if case.find("failure") is None and case.find("skipped") is None:
                    passed.add(plain(f"{case.get('classname')}/{case.get('name')}"))
        return passed


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    cases = list(rows(text))
    problems = []
    seen = set()
    for case, _, names in cases:
        if case in seen:
            problems.append(f"{case} is there twice")
        seen.add(case)
    suites = {plain(name).split("/", 1)[0] for _, _, names in cases for name in names}
    passed = run([f"{suite}/x" for suite in suites])
    for case, kind, names in cases:
        if kind == "elsewhere" and not names:
            problems.append(f"{case}: it says elsewhere, and names no test")
        for name in map(plain, names):
            if name not in passed:
                problems.append(f"{case}: no such test ran and passed: {name}")
    for match in filter(None, map(TOTAL.match, text.splitlines())):
        counts = {kind: 0 for kind in KINDS}
        for case, kind, _ in cases:
            if case.startswith(match["group"] + "/"):
                counts[kind] += 1
        said = {kind: int(match[kind]) for kind in KINDS}
        if (counts, sum(counts.values())) != (said, int(match["all"])):
            problems.append(f"{match['group']}: it has {counts}, not {said} of {match['all']}")
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        counts = [sum(kind == one for _, kind, _ in cases) for one in KINDS]
        test, elsewhere, no = counts
        print(f"{len(cases)} test cases: {test} have a test that passed, {elsewhere} are covered elsewhere, {no} are not")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
