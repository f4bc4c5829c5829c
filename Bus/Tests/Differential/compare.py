#!/usr/bin/env python3
"""Compares a recording of script.py with bluetoothd's: every reply, error and signal, in order.

    Bus/Tests/Differential/compare.py VERSION NAME RECORDING.jsonl
    Bus/Tests/Differential/compare.py --markdown

differences.json lists the intended differences from every version or from one, with their reasons. Fails if there are others, or if one of
them is no longer there. With --markdown, prints the intended differences as a table.
"""
import difflib
import json
import pathlib
import sys


# bluetoothd announces these changes when the kernel reports them. Whether that is before or after the reply, and in one
# signal or in several, differs from recording to recording.
RACING = {"StartDiscovery", "StopDiscovery", "Disconnect", "RegisterAgent", "UnregisterAgent"}


def unordered(lines):
    """What a step announces and answers, without the order."""
    result = []
    for entry in map(json.loads, lines):
        if entry.get("signal") != "PropertiesChanged":
            result.append(entry)
        for name, value in entry.get("changed", {}).items():
            result.append({"path": entry["path"], "interface": entry["interface"], "changed": {name: value}})
    return sorted(json.dumps(entry, ensure_ascii=False, sort_keys=True) for entry in result)


def steps(path):
    """The calls of a recording, each with what follows until the next call."""
    result = [("start", [])]
    for line in pathlib.Path(path).read_text().splitlines():
        entry = json.loads(line)
        if "call" in entry:
            arguments = json.dumps(entry["arguments"], sort_keys=True)
            result.append((f"{entry['path'].rsplit('/', 1)[-1]} {entry['call']} {arguments}", []))
        else:
            result[-1][1].append(json.dumps(entry, ensure_ascii=False, sort_keys=True))
    return result


def differences(expected, actual):
    """The steps that differ: a key that names the step, and the lines that are missing or added."""
    expected, actual = steps(expected), steps(actual)
    result = {}
    if [name for name, _ in expected] != [name for name, _ in actual]:
        result["the calls themselves"] = list(difflib.unified_diff(
            [name for name, _ in expected], [name for name, _ in actual], "expected", "actual", n=0, lineterm=""))
        return result
    seen = {}
    for (name, before), (_, after) in zip(expected, actual):
        if name == "start" or name.split(" ")[1] in RACING:
            before, after = unordered(before), unordered(after)
        seen[name] = seen.get(name, 0) + 1
        if before != after:
            key = name if seen[name] == 1 else f"{name} #{seen[name]}"
            result[key] = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    return result


def main():
    directory = pathlib.Path(__file__).parent
    all_intended = json.loads((directory / "differences.json").read_text())
    if "--markdown" in sys.argv:
        print("| version | recording | call | reason |\n|---|---|---|---|")
        for version, recordings in all_intended.items():
            for name, intended in recordings.items():
                for call, reason in intended.items():
                    print(f"| {version} | {name} | `{call}` | {reason} |")
        return 0
    version, name, actual = sys.argv[1:]
    found = differences(directory / f"bluetoothd-{version}/{name}.jsonl", actual)
    intended = all_intended["every version"].get(name, {}) | all_intended[version].get(name, {})
    status = 0
    for call, lines in found.items():
        if call in intended:
            continue
        status = 1
        print(f"{call}:")
        for line in lines:
            print(f"    {line}")
    for call in intended:
        if call not in found:
            status = 1
            print(f"{call}: no longer differs; remove it from differences.json")
    return status


if __name__ == "__main__":
    sys.exit(main())
