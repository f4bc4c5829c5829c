"""Holds the ledger of test cases against the tests: see Scripts/conformance."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROW = re.compile(r"^\| (?P<case>[A-Z0-9]+(?:/[A-Z0-9-]+)+) \| .* \| (?P<test>.*) \|$")
TOTAL = re.compile(r"^\| \*\*(?P<group>[A-Z/]+)\*\* \| (?P<all>\d+) \| (?P<done>\d+) \|$")


def rows(text):
    """The cases, with the test of each; None for those that have none."""
    for line in text.splitlines():
        if match := ROW.match(line):
            test = match["test"].strip()
            yield match["case"], None if test.startswith("no: ") else test.strip("`").replace("``", "")


def plain(name):
    """A test's name without what is written around it: `Suite/test(_:)` in any spelling."""
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
    for case, _ in cases:
        if case in seen:
            problems.append(f"{case} is there twice")
        seen.add(case)
    wanted = {case: plain(test) for case, test in cases if test}
    suites = {test.split("/", 1)[0]: None for test in wanted.values()}
    passed = run([f"{suite}/x" for suite in suites])
    for case, test in wanted.items():
        if test not in passed:
            problems.append(f"{case}: no such test ran and passed: {test}")
    for match in map(TOTAL.match, text.splitlines()):
        if not match:
            continue
        group = [test for case, test in cases if case.startswith(match["group"] + "/")]
        done = sum(test is not None for test in group)
        if (len(group), done) != (int(match["all"]), int(match["done"])):
            problems.append(f"{match['group']}: {done} of {len(group)} rows have a test, not as it says")
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(wanted)} of {len(cases)} test cases, each with a test that passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
