"""See Scripts/mutants."""

import argparse
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import catalogue
from building import BUILD, Builder, BuildError, Mutant, say
from killing import Outcome, Runner, Stage, simulation, tests
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
    parser.add_argument("--by", choices=["simulation", "tests"])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    return parser.parse_args()


def chosen(mutants: list[Mutant], only: list[str]) -> list[Mutant]:
    """Those that are meant by any of the texts."""
    if not only:
        return mutants
    return [mutant for mutant in mutants if any(text in (mutant.name, mutant.kind) or text in mutant.key for text in only)]


def measure(runner: Runner, stages: list[Stage]) -> None:
    """Sees that nothing is found where there is no mutant, and how long that takes."""
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


def kill(runner: Runner, mutant: Mutant, stages: list[Stage], report: Report) -> None:
    """Runs a mutant until something finds it."""
    outcomes = []
    for stage in stages:
        outcome = runner.run(stage, mutant.id, stage.limit)
        while outcome.world is not None and not runner.is_stopped:
            # A world that fails without the mutant as well has found something else.
            if not runner.run(stage.only(outcome.world), 0).found:
                break
            say(f"world {outcome.world} fails without a mutant")
            if (rest := stage.after(outcome.world)) is None:
                outcome = Outcome(stage, None, 0)
            else:
                outcome = runner.run(rest, mutant.id, rest.limit)
        if runner.is_stopped:
            return
        outcomes.append(outcome)
        if outcome.found:
            break
    report.add(mutant, outcomes)


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

    def stages(mutant: Mutant) -> list[Stage]:
        is_long = mutant.name is not None and mutant.name not in unseen
        worlds = arguments.named_worlds if is_long else arguments.worlds
        return [stage for stage in simulations if stage.seeds.stop <= worlds] + of_tests

    report = Report(mutants, bugs, builder.candidates, len(builder.excluded), arguments.seed)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        pending = {
            pool.submit(kill, runner, mutant, stages(mutant), report): mutant
            for mutant in selected
        }
        try:
            for done, future in enumerate(as_completed(pending), 1):
                future.result()
                mutant = pending[future]
                left = (time.monotonic() - began) / done * (len(pending) - done)
                say(f"{done}/{len(pending)} {mutant.name or mutant.place}: {report.verdict(mutant)}"
                    f" ({left / 60:.0f} min left)")
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
