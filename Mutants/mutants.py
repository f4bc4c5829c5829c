"""See Scripts/mutants."""

import argparse
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

import catalogue
from building import BUILD, Builder, BuildError, Mutant, say
from killing import Outcome, Runner, Stage, concerns, simulation, tests
from reporting import Report


def natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a number")
    return int(text)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Scripts/mutants", add_help=False)
    parser.add_argument("--seed", type=natural, default=1)
    parser.add_argument("--count", type=natural, default=250)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=natural, default=os.cpu_count() or 1)
    parser.add_argument("--worlds", type=natural, default=3000)
    parser.add_argument("--named-worlds", type=natural, default=100_000)
    parser.add_argument("--go-on", action="store_true")
    parser.add_argument("--by", choices=["simulation", "tests"])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    return parser.parse_args()


def chosen(mutants: list[Mutant], only: list[str]) -> list[Mutant]:
    """The mutants that any of the texts selects."""
    if not only:
        return mutants
    return [mutant for mutant in mutants if any(text in (mutant.name, mutant.kind) or text in mutant.key for text in only)]


def measure(runner: Runner, stages: list[Stage]) -> None:
    """Checks that nothing is found without a mutant, and measures the time."""
    rate = 0.0
    for stage in stages:
        if not (stage.worlds and rate):
            say(f"Without a mutant: {stage.title}")
            outcome = runner.run(stage, 0)
            if outcome.found:
                raise BuildError(f"without a mutant, {stage.kind} fails: {outcome.found}")
            stage.seconds = outcome.seconds
            rate = rate or outcome.seconds / (stage.worlds or float("inf"))
        else:
            stage.seconds = stage.worlds * rate


def attack(runner: Runner, mutant: Mutant, stage: Stage, report: Report) -> None:
    """Runs a mutant in one stage."""
    outcome = runner.run(stage, mutant.id, stage.limit)
    while outcome.world is not None and not runner.is_stopped:
        # A world that also fails without the mutant has found something else.
        if not runner.run(stage.only(outcome.world), 0).found:
            break
        say(f"world {outcome.world} fails without a mutant")
        if (rest := stage.after(outcome.world)) is None:
            outcome = Outcome(stage, None, 0)
        else:
            outcome = runner.run(rest, mutant.id, rest.limit)
    if not runner.is_stopped:
        report.add(mutant, outcome)


def run(arguments: argparse.Namespace, bugs: list[catalogue.Bug]) -> int:
    BUILD.mkdir(exist_ok=True)
    builder = Builder(bugs, arguments.seed, arguments.count, arguments.jobs)
    mutants = builder.make()
    selected = chosen(mutants, arguments.only)
    if not selected:
        raise BuildError(f"no mutant is called {' or '.join(arguments.only)}; --list names them")
    if arguments.list:
        for mutant in selected:
            print(f"{mutant.id}\t{mutant.name or mutant.kind}\t{mutant.place}\t{mutant.change}")
        return 0
    directory = builder.build_copy()
    simulations, of_tests = [], []
    if arguments.by != "tests":
        most = max(arguments.worlds, arguments.named_worlds)
        simulations = simulation(directory / "ble", arguments.worlds, most)
    if arguments.by != "simulation":
        of_tests = tests(next(directory.glob("*PackageTests.xctest")))
    runner = Runner()
    measure(runner, simulations + of_tests)

    unseen = {bug.name for bug in bugs if bug.by_tests}

    def is_for(stage: Stage, mutant: Mutant) -> bool:
        is_long = mutant.name is not None and mutant.name not in unseen
        worlds = arguments.named_worlds if is_long else arguments.worlds
        return stage.seeds.stop <= worlds and concerns(stage, mutant.file)

    report = Report(mutants, bugs, builder.candidates, len(builder.excluded), arguments.seed)
    if arguments.go_on:
        report.resume(BUILD)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # All of them in one stage, then those that are left in the next: what is interrupted says a little of each.
    for stage in simulations + of_tests:
        left = [mutant for mutant in selected if is_for(stage, mutant) and report.is_open(mutant, stage)]
        if runner.is_stopped or not left:
            continue
        say(f"{len(left)} in {stage.title}")
        with ThreadPoolExecutor(arguments.jobs) as pool:
            pending = {pool.submit(attack, runner, mutant, stage, report): mutant for mutant in left}
            try:
                for future in as_completed(pending):
                    future.result()
                    mutant = pending[future]
                    say(f"  {mutant.name or mutant.place}: {report.verdict(mutant)}")
                    report.save(BUILD)
            except KeyboardInterrupt:
                say("Interrupted")
                pool.shutdown(wait=False, cancel_futures=True)
                runner.stop()
    report.save(BUILD)
    print(report.markdown(), end="")
    say(f"Also in {BUILD.name}/report.md and report.json")
    survivors = [mutant for mutant in report.split()[0] if not report.killer(mutant)]
    return 130 if runner.is_stopped else 1 if survivors else 0


def main() -> int:
    arguments = options()
    try:
        bugs = catalogue.load()
        if arguments.smoke:
            print(f"{len(bugs)} named mutants fit the sources")
            return 0
        return run(arguments, bugs)
    except (catalogue.CatalogueError, BuildError) as error:
        say(f"Scripts/mutants: {error}")
        return 2


sys.exit(main())
