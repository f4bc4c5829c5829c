"""Makes man pages and shell completions of programs from their help.

The programs are built with swift-argument-parser, which prints their commands as JSON and generates completion scripts.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
from typing import Any

PROGRAMS = ["ble", "central", "peripheral"]
# The shells, and the name of a program's completion file in each.
SHELLS = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}

Command = dict[str, Any]


def output(*command: str | pathlib.Path) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


# MARK: Roff

def escaped(text: str) -> str:
    """Text that roff prints verbatim, with hyphens as in options."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    # At the beginning of a line these are requests.
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def bold(text: str) -> str:
    return f"\\fB{escaped(text)}\\fR"


def italic(text: str) -> str:
    return f"\\fI{escaped(text)}\\fR"


def paragraphs(text: str) -> list[str]:
    """Prose, whose paragraphs are separated by blank lines."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\n+", text.strip()):
        lines += [".PP", escaped(" ".join(paragraph.split()))]
    return lines


def sections(discussion: str) -> tuple[str, dict[str, list[str]]]:
    """The prose of a discussion, and the lines of the sections that follow it, such as EXAMPLES."""
    prose: list[str] = []
    found: dict[str, list[str]] = {}
    current = None
    for line in discussion.splitlines():
        if heading := re.fullmatch(r"([A-Z][A-Z ]+):", line):
            current = found.setdefault(heading[1], [])
        elif current is None:
            prose.append(line)
        elif line.strip():
            current.append(line.removeprefix("  "))
    return "\n".join(prose), found


def names(argument: Command) -> list[str]:
    """The spelling of an option."""
    return [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names", [])]


def value(argument: Command) -> str:
    return italic(argument["valueName"])


def synopsis(argument: Command) -> str:
    if argument["kind"] == "positional":
        text = value(argument) + (" ..." if argument["isRepeating"] else "")
    else:
        name = argument["preferredName"]
        text = bold(("--" if name["kind"] == "long" else "-") + name["name"])
        if argument["kind"] == "option":
            text += " " + value(argument)
    # It stays in one line.
    text = text.replace(" ", "\\ ")
    return f"[{text}]" if argument["isOptional"] else text


def inverted(argument: Command) -> str | None:
    """The name of the option that a flag such as --no-active negates; None for others."""
    found = [name.removeprefix("--no-") for name in names(argument) if name.startswith("--no-")]
    return f"--{found[0]}" if argument["kind"] == "flag" and found else None


def with_inversions(arguments: list[Command]) -> list[Command]:
    """The arguments. A flag and its negation are described together."""
    shown: list[Command] = []
    for argument in arguments:
        other = next((each for each in shown if inverted(argument) in names(each)), None)
        if other is None:
            shown.append(dict(argument))
        else:
            other["names"] = other["names"] + argument["names"]
            other["abstract"] = f"{other.get('abstract', '')} {names(argument)[0]} turns that off."
    return shown


def described(arguments: list[Command]) -> list[str]:
    """A tagged paragraph for each argument."""
    lines: list[str] = []
    for argument in with_inversions(arguments):
        tag = ", ".join(bold(name) for name in names(argument))
        if argument["kind"] != "flag":
            tag = f"{tag} {value(argument)}".strip()
        text = argument.get("abstract", "")
        if values := argument.get("allValues"):
            text += f" Values: {', '.join(values)}."
        if argument.get("defaultValue") and argument["kind"] == "option":
            text += f" Default: {argument['defaultValue']}."
        lines += [".TP", tag, escaped(text.strip() or argument["valueName"])]
    return lines


def page(path: list[str], command: Command, version: str, pages: list[str]) -> str:
    """The man page of a command."""
    name = "-".join(path)
    # The same every time that a version is built.
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    date = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).date().isoformat()
    prose, found = sections(command.get("discussion", ""))
    shown = [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]
    positional = [argument for argument in shown if argument["kind"] == "positional"]
    options = [argument for argument in shown if argument["kind"] != "positional"]
    below = [each for each in command.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]
    parts = [synopsis(argument) for argument in shown] + ([italic("command")] if below else [])
    lines = [
        f'.TH "{name.upper()}" 1 "{date}" "swift-bluetooth-le {version}" "User Commands"',
        # Neither hyphenated nor stretched: there are many names.
        ".nh", ".ad l",
        ".SH NAME", f"{escaped(name)} \\- {escaped(command['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS", ".HP", " ".join([bold(" ".join(path)), *parts]),
        ".SH DESCRIPTION", *(paragraphs(command["abstract"])[1:]), *(paragraphs(prose) if prose.strip() else []),
    ]
    if below:
        lines.append(".SH COMMANDS")
        for each in below:
            lines += [".TP", bold(each["commandName"]), escaped(each["abstract"])]
    if positional:
        lines += [".SH ARGUMENTS", *described(positional)]
    if options:
        lines += [".SH OPTIONS", *described(options)]
    if examples := found.pop("EXAMPLES", None):
        lines += [".SH EXAMPLES", ".nf", ".RS", *map(escaped, examples), ".RE", ".fi"]
    if statuses := found.pop("EXIT STATUS", None):
        lines.append(".SH EXIT STATUS")
        for line in statuses:
            number, _, meaning = line.strip().partition("  ")
            lines += [".TP", bold(number), escaped(meaning.strip())]
        lines += [".TP", bold("128+n"), "signal n ended the program"]
    if found:
        raise ValueError(f"{name} has sections that no man page has: {', '.join(found)}")
    if any("BLUETOOTH_TRANSPORT" in (argument.get("abstract") or "") for argument in shown):
        lines += [
            ".SH ENVIRONMENT", ".TP", bold("BLUETOOTH_TRANSPORT"),
            f"The controller where {bold('--transport')} is left out.",
            ".TP", bold("NO_COLOR"), "If set and not empty, disables color.",
        ]
    others = [other for other in pages if other != name]
    if others:
        references = [f".BR {escaped(other)} (1)" for other in others]
        lines += [".SH SEE ALSO", *[line + "," for line in references[:-1]], references[-1]]
    return "\n".join(lines) + "\n"


# MARK: Files

def commands(path: list[str], command: Command) -> list[tuple[list[str], Command]]:
    """A command and all its subcommands, with the words that invoke each."""
    below = [each for each in command.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]
    return [(path, command)] + [
        found for each in below for found in commands([*path, each["commandName"]], each)]


def write(binaries: pathlib.Path, directory: pathlib.Path) -> None:
    """Writes man1/NAME.1 and completions/SHELL/… for every program."""
    manual = directory / "man1"
    manual.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        executable = binaries / program
        description = json.loads(output(executable, "--experimental-dump-help"))["command"]
        version = output(executable, "--version").split()[-1]
        found = commands([program], description)
        pages = ["-".join(path) for path, _ in found]
        for path, command in found:
            name = "-".join(path)
            # The command above, those beside and those below.
            near = [other for other in pages if other == "-".join(path[:-1]) or other.startswith(f"{name}-")
                    or (len(path) > 1 and other.rpartition("-")[0] == "-".join(path[:-1]))]
            (manual / f"{name}.1").write_text(page(path, command, version, near), encoding="utf-8")
        for shell, file in SHELLS.items():
            place = directory / "completions" / shell
            place.mkdir(parents=True, exist_ok=True)
            script = output(executable, "--generate-completion-script", shell)
            (place / file.format(program)).write_text(script, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binaries", type=pathlib.Path, help="where the programs are")
    parser.add_argument("directory", type=pathlib.Path, help="where man1 and completions go")
    arguments = parser.parse_args()
    write(arguments.binaries.resolve(), arguments.directory)


if __name__ == "__main__":
    main()
