"""The Swift snippets of the documentation, built and run as printed. See Scripts/readme."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import snippet_runs
from libraries import libraries

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = "manifest"
# In these files, a comment must state what each block of Swift is.
STRICT = [ROOT / "README.md", *sorted(ROOT.glob("Sources/*/*.docc/**/*.md"))]
# These also show code that does not compile, and fragments of apps.
GUIDES = [path for path in sorted((ROOT / "Documentation").glob("*.md")) if path not in STRICT]

# The programs of this package.
PROGRAMS = ["ble", "radio", "central", "peripheral"]
# Target names that dependents are likely to choose, in addition to the snippets' names, such as `central`.
COMMON_NAMES = [
    "ble", "TestSupport", "FuzzReplay", "CommandLineSupport", "Support", "KeyValueObserving",
    "HeartRateMonitor", "Bluetooth", "Simulation", "Values", "Host",
]  # fmt: skip

BLOCK = re.compile(
    r"(?:<!-- (?P<kind>snippet|compiled in|not compiled): ?(?P<said>.*?) *-->\n)?```swift\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE)


class Wrong(Exception):
    """A problem that a reader of the documentation would have."""


@dataclass
class Target:
    name: str
    is_test: bool = False
    files: dict[str, str] = field(default_factory=dict)
    companions: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "testTarget" if self.is_test else "executableTarget" if "main.swift" in self.files else "target"


def snippets() -> tuple[str, dict[str, Target]]:
    """The manifest in Installing.md, and all targets by name."""
    manifest, targets = "", {}
    for path in STRICT + GUIDES:
        text = path.read_text()
        for match in BLOCK.finditer(text):
            place = f"{path.relative_to(ROOT)}:{text[: match.start('code')].count(chr(10)) + 1}"
            kind, said, code = match["kind"], match["said"] or "", match["code"]
            # The comment may itself show a fence only in this script's own documentation.
            if kind == "not compiled" or (kind is None and path in GUIDES and not is_program(code)):
                continue
            if kind is None and path in GUIDES:
                said, kind = f"{path.stem.lower()}-{place.rsplit(':', 1)[1]} File.swift", "snippet"
            if kind is None:
                raise Wrong(f"{place}: add a comment that states what this block is: see Scripts/readme --help")
            if kind == "compiled in":
                name = "fragment-" + re.sub(r"\W+", "-", place)
                before, mark, after = f"\n{said}\n".partition("\n…\n")
                if not mark:
                    raise Wrong(f"{place}: the comment has no line that is …")
                targets[name] = Target(name, files={"Fragment.swift": f"{before.strip()}\n{code}{after}\n"})
                continue
            words = said.split()
            if words[0] == MANIFEST:
                manifest = code
                continue
            target = targets.setdefault(words[0], Target(words[0]))
            if words[1] == "test":
                target.is_test, target.files["Snippet.swift"] = True, code
                if words[2:3] == ["with"]:
                    target.companions += words[3:]
            else:
                if words[1] in target.files:
                    raise Wrong(f"{place}: {words[0]} already has a file {words[1]}")
                target.files[words[1]] = code
    for target in targets.values():
        for companion in target.companions:
            name, file = companion.split("/")
            target.files[file] = targets[name].files[file]
    if not manifest:
        raise Wrong("Documentation/Installing.md: there is no manifest")
    return manifest, targets


def is_program(code: str) -> bool:
    return re.match(r"(//.*\n)*(@testable )?import \w", code) is not None and "…" not in code


def products(target: Target) -> list[str]:
    """The products of this package that a target imports."""
    imports = {name for code in target.files.values() for name in re.findall(r"^\s*import (\w+)", code, re.MULTILINE)}
    ours = sorted(product for product, modules in libraries().items() if imports & set(modules))
    return [f'.product(name: "{product}", package: "swift-bluetooth-le")' for product in ours] + (
        ['.product(name: "Logging", package: "swift-log")'] if "Logging" in imports else [])


def with_targets(manifest: str, lines: list[str]) -> str:
    """The manifest with its targets replaced by others."""
    head, mark, _ = manifest.partition("    targets: [\n")
    if not mark:
        raise Wrong("Documentation/Installing.md: the manifest has no targets")
    return head + mark + "\n".join(lines) + "\n    ]\n)\n"


def by_path(manifest: str) -> str:
    """The manifest for the checkout `swift-bluetooth-le` beside its package."""
    return re.sub(r'\.package\(url: "[^"]*swift-bluetooth-le\.git", from: "[^"]*"\)',
                  '.package(path: "../swift-bluetooth-le")', manifest)


def write(directory: Path, manifest: str, targets: dict[str, Target]) -> None:
    """The manifest's package, with the snippets instead of its single target."""
    lines = [
        f'        .{target.kind}(name: "{target.name}", dependencies: [{", ".join(products(target))}]),'
        for target in targets.values()
    ] + [f'        .target(name: "{name}"),' for name in COMMON_NAMES]
    text = with_targets(manifest, lines)
    log = '        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),\n'
    if any("swift-log" in line for line in lines):
        text = text.replace("    dependencies: [\n", "    dependencies: [\n" + log)
    write_changed(directory / "Package.swift", text)
    wanted = {f"Tests/{t.name}" if t.is_test else f"Sources/{t.name}" for t in targets.values()}
    wanted |= {f"Sources/{name}" for name in COMMON_NAMES}
    for old in [*directory.glob("Sources/*"), *directory.glob("Tests/*")]:
        if str(old.relative_to(directory)) not in wanted:
            shutil.rmtree(old)
    for target in targets.values():
        for name, code in target.files.items():
            write_changed(directory / ("Tests" if target.is_test else "Sources") / target.name / name, code)
    for name in COMMON_NAMES:
        write_changed(directory / "Sources" / name / "Empty.swift", "")


def write_changed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def swift(directory: Path, *words: str, **environment: str) -> str:
    process = subprocess.run(
        ["swift", words[0], "--package-path", directory, *words[1:]],
        env=os.environ | environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if process.returncode != 0:
        raise Wrong(f"swift {words[0]} failed in a package that depends on this one:\n{process.stdout}")
    return process.stdout


def by_url(manifest: str, directory: Path) -> None:
    """Checks that the manifest resolves as printed, if its URL leads to this repository with a release."""
    url, version = re.search(r'url: "([^"]*swift-bluetooth-le\.git)", from: "([^"]*)"', manifest).groups()
    mirror = directory / "swift-bluetooth-le.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", "--no-hardlinks", ROOT, mirror], check=True)
    subprocess.run(["git", "-C", mirror, "tag", version], check=True)
    package = directory / "by-url"
    write_changed(package / "Package.swift", manifest)
    write_changed(package / "Sources/monitor/main.swift", "")
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{mirror}.insteadOf", "GIT_CONFIG_VALUE_0": url}
    places = ["--cache-path", str(directory / "cache"), "--security-path", str(directory / "security")]
    fetched = swift(package, "package", *places, "show-dependencies", **settings)
    for package_name, trait in {"OpenCombine": "Combine", "swift-crypto": "BoringSSL"}.items():
        if package_name in fetched:
            raise Wrong(f"{package_name} is downloaded without the trait {trait}")
    named_like_ours(manifest, package, *places, **settings)


def named_like_ours(manifest: str, package: Path, *options: str, **environment: str) -> None:
    """Checks that a dependent package's programs are built if they have the same names as ours."""
    product = '.product(name: "BluetoothValues", package: "swift-bluetooth-le")'
    lines = [f'        .executableTarget(name: "{name}", dependencies: [{product}]),' for name in PROGRAMS]
    write_changed(package / "Package.swift", with_targets(manifest, lines))
    shutil.rmtree(package / "Sources", ignore_errors=True)
    for name in PROGRAMS:
        write_changed(package / "Sources" / name / "main.swift", f'print("their {name}")\n')
    swift(package, "build", *options, **environment)
    binaries = Path(swift(package, "build", *options, "--show-bin-path", **environment).strip())
    for name in PROGRAMS:
        printed = subprocess.run([binaries / name], capture_output=True, text=True, check=False).stdout
        if printed != f"their {name}\n":
            raise Wrong(f"a dependent package's {name} prints {printed!r}")


def without_pairing(local: str, place: Path) -> None:
    """Checks that a package that disables the trait builds no ciphers."""
    package = place / "plain"
    sources = {
        "BluetoothLE": 'import BluetoothLE\n\nprint(BluetoothUUID("180D"))\n',
        "CoreBluetooth": 'import CoreBluetooth\n\nprint(CBUUID(string: "180D"))\n',
    }
    lines = [
        f'        .executableTarget(name: "with-{name}", dependencies: [.product(name: "{name}", package: "swift-bluetooth-le")]),'
        for name in sources
    ]
    manifest = with_targets(local, lines).replace('swift-bluetooth-le")', 'swift-bluetooth-le", traits: [])', 1)
    write_changed(package / "Package.swift", manifest)
    for name, source in sources.items():
        write_changed(package / f"Sources/with-{name}/main.swift", source)
    begin = time.monotonic()
    swift(package, "build")
    print(f"without pairing, a first build took {time.monotonic() - begin:.0f} s")
    # SwiftPM makes a directory for every target that it knows, even if it does not build the target.
    built = [path.name for path in (package / ".build/debug").glob("*.build") if any(path.rglob("*.o"))]
    if found := [name for name in built if "BoringSSL" in name or "Crypto" in name]:
        raise Wrong(f"without the trait Pairing, the build also includes: {', '.join(found)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ble", type=Path, required=True)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--without-pairing", action="store_true")
    arguments = parser.parse_args()
    manifest, targets = snippets()
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        by_url(manifest, directory)
        place = arguments.keep or directory
        place.mkdir(parents=True, exist_ok=True)
        # A package that is referenced by its path is identified by the name of its directory.
        link = place / "swift-bluetooth-le"
        link.unlink(missing_ok=True)
        link.symlink_to(ROOT)
        local = by_path(manifest)
        package = place / "monitor"
        write(package, local, targets)
        named_like_ours(local, place / "named")
        named_like_ours(local, place / "named", "--scratch-path", str(place / "elsewhere"))
        if arguments.without_pairing:
            without_pairing(local, place)
        said = swift(package, "build", "--build-tests")
        ours = [line for line in said.splitlines() if re.search(r"monitor/(Sources|Tests)/.*warning:", line)]
        if ours:
            raise Wrong("a snippet causes warnings:\n" + "\n".join(ours))
        binaries = Path(swift(package, "build", "--show-bin-path").strip())
        snippet_runs.run_all(binaries, arguments.ble, directory)
        tests = swift(package, "test", "--skip-build", "--disable-xctest")
        for line in snippet_runs.TEST_OUTPUT:
            if line not in tests:
                raise Wrong(f"the tests do not print {line!r}:\n{tests}")
    print(f"{len(targets)} snippets built, {len(snippet_runs.RUNS)} programs run, {len(snippet_runs.TEST_OUTPUT)} tests")


if __name__ == "__main__":
    try:
        main()
    except (Wrong, snippet_runs.Failed) as error:
        sys.exit(f"Scripts/readme: {error}")
