"""The parts of a release that need more than a shell: image, SPDX document and notes. See Scripts/release."""

import argparse
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NAME = "swift-bluetooth-le"
PROGRAMS = ["ble", "central", "peripheral"]
#: The names that images use for architectures.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class Wrong(Exception):
    """The files do not make a release."""


# MARK: Image


def image(arguments: argparse.Namespace) -> None:
    """An image with one layer, as an OCI layout that also has the index that `docker load` reads."""
    if arguments.architecture not in ARCHITECTURES:
        raise Wrong(f"no image for {arguments.architecture}; the architectures are {', '.join(ARCHITECTURES)}")
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        # A program looks there for its name, and records there which adapters were up.
        for directory in ("bin", "proc", "run", "run/lock", "tmp"):
            add(archive, directory, None, 0o1777 if directory == "tmp" else 0o755, arguments.time)
        for program in PROGRAMS:
            add(archive, f"bin/{program}", (arguments.programs / program).read_bytes(), 0o755, arguments.time)
        for document in ("LICENSE", "NOTICE"):
            add(archive, document, (arguments.programs / document).read_bytes(), 0o644, arguments.time)
    plain = layer.getvalue()
    packed = gzip.compress(plain, 6, mtime=0)
    created = datetime.fromtimestamp(arguments.time, UTC).isoformat().replace("+00:00", "Z")
    blobs: dict[str, bytes] = {}
    architecture = ARCHITECTURES[arguments.architecture]

    def blob(content: bytes, kind: str) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    configuration = blob(encoded({
        "created": created, "architecture": architecture, "os": "linux",
        "config": {
            "Env": ["PATH=/bin"], "Cmd": ["ble", "--help"],
            "Labels": {
                "org.opencontainers.image.title": NAME, "org.opencontainers.image.version": arguments.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
        "history": [{"created": created, "created_by": "Scripts/release"}],
    }), "config.v1+json")  # fmt: skip
    layers = [blob(packed, "layer.v1.tar+gzip")]
    manifest = blob(encoded({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": configuration,
        "layers": layers,
    }), "manifest.v1+json")  # fmt: skip
    manifest |= {
        "platform": {"architecture": architecture, "os": "linux"},
        "annotations": {
            "org.opencontainers.image.ref.name": "latest", "io.containerd.image.name": f"docker.io/library/{NAME}:latest",
        },
    }  # fmt: skip

    def place(description: dict[str, Any]) -> str:
        return f"blobs/sha256/{description['digest'].removeprefix('sha256:')}"

    files = {
        "oci-layout": encoded({"imageLayoutVersion": "1.0.0"}),
        "index.json": encoded({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]}),
        "manifest.json": encoded([{
            "Config": place(configuration), "RepoTags": [f"{NAME}:latest"], "Layers": [place(one) for one in layers]}]),
    }  # fmt: skip
    with tarfile.open(arguments.output, "w") as archive:
        for directory in ("blobs", "blobs/sha256"):
            add(archive, directory, None, 0o755, arguments.time)
        for digest, content in sorted(blobs.items()):
            add(archive, f"blobs/sha256/{digest}", content, 0o644, arguments.time)
        for name, content in files.items():
            add(archive, name, content, 0o644, arguments.time)


def add(archive: tarfile.TarFile, name: str, content: bytes | None, mode: int, time: int) -> None:
    """Adds a file, or a directory if there is no content."""
    entry = tarfile.TarInfo(name)
    entry.mode, entry.mtime = mode, time
    if content is None:
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    else:
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))


def encoded(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode()


# MARK: SPDX

#: What static programs contain from the toolchain and from the system that built them.
SYSTEM = {"libc6-dev": "LGPL-2.1-or-later", "libstdc++-dev": "GPL-3.0-or-later WITH GCC-exception-3.1"}


def sbom(arguments: argparse.Namespace) -> None:
    """The packages that the programs were built from, as SPDX 2.3."""
    packages = [element(NAME, arguments.version, "Apache-2.0", ours=True)]
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", NAME)]
    seen: set[str] = set()

    def visit(node: dict[str, Any], parent: str) -> None:
        identity = node["identity"]
        relations.append(relation(f"SPDXRef-{reference(parent)}", "DEPENDS_ON", identity))
        if identity in seen:
            return
        seen.add(identity)
        checkout = Path(node["path"])
        packages.append(element(
            identity, node["version"], license_of(checkout), f"git+{node['url']}@{revision(checkout)}"))  # fmt: skip
        for child in node["dependencies"]:
            visit(child, identity)

    for node in json.loads(arguments.dependencies.read_text())["dependencies"]:
        visit(node, NAME)
    for name, version, licence in toolchain():
        packages.append(element(name, version, licence))
        relations.append(relation(f"SPDXRef-{NAME}", "STATIC_LINK", name))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{NAME}-{arguments.version}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{NAME}-{arguments.version}-{arguments.time}')}",
        "creationInfo": {
            "created": datetime.fromtimestamp(arguments.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: Scripts/release"],
        },
        "packages": packages, "relationships": list({json.dumps(one): one for one in relations}.values()),
    }  # fmt: skip
    arguments.output.write_bytes(encoded(document) + b"\n")


def element(name: str, version: str, licence: str, location: str = "NOASSERTION", ours: bool = False) -> dict[str, Any]:
    return {
        "name": name, "SPDXID": f"SPDXRef-{reference(name)}", "versionInfo": version, "downloadLocation": location,
        "filesAnalyzed": False, "licenseConcluded": licence if ours else "NOASSERTION", "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }  # fmt: skip


def relation(subject: str, kind: str, name: str) -> dict[str, str]:
    return {"spdxElementId": subject, "relationshipType": kind, "relatedSpdxElement": f"SPDXRef-{reference(name)}"}


def reference(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", name)


def revision(checkout: Path) -> str:
    """The commit of a checkout. Package.resolved states it only for the traits of the command that wrote it last."""
    said = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise Wrong(f"cannot find the commit of {checkout}: {said.stderr.strip()}")
    return said.stdout.strip()


def license_of(checkout: Path) -> str:
    """The license in a checkout, if it is the one that all dependencies have so far."""
    for name in ("LICENSE.txt", "LICENSE", "LICENSE.md"):
        if (checkout / name).exists():
            text = (checkout / name).read_text(errors="replace")
            if "Apache License" in text and "Version 2.0" in text:
                return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
            if "MIT License" in text:
                return "MIT"
    return "NOASSERTION"


def toolchain() -> list[tuple[str, str, str]]:
    said = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    swift = re.search(r"Swift version (\S+)", said)
    if not swift:
        raise Wrong(f"swift --version prints no version: {said}")
    found = [("swift-runtime", swift[1], "Apache-2.0 WITH Swift-exception")]
    for package, licence in SYSTEM.items():
        pattern = package.replace("++-dev", "++-*-dev")
        listed = subprocess.run(
            ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", pattern],
            capture_output=True, text=True, check=False).stdout.split("\n")  # fmt: skip
        found += [(*line.split(" "), licence) for line in listed if line.count(" ") == 1 and line.split(" ")[1]]
    return found


# MARK: Notes


def notes(arguments: argparse.Namespace) -> None:
    """The section of the changelog, with links that also work outside the repository."""
    changes = (ROOT / "CHANGELOG.md").read_text()
    version = arguments.version.partition("~")[0]
    sections = dict(re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", changes, re.DOTALL | re.MULTILINE))
    if arguments.version != version:
        version = "Unreleased" if version not in sections else version
    if version not in sections:
        raise Wrong(f"CHANGELOG.md has no section {version}")
    url = re.search(r'url: "([^"]*)\.git"', (ROOT / "Documentation/Installing.md").read_text())
    if not url:
        raise Wrong("Documentation/Installing.md does not name the repository")
    place = f"{url[1]}/blob/{arguments.version if arguments.version == version else 'main'}/"
    text = re.sub(r"\]\((?!\w+:|#)([^)]+)\)", rf"]({place}\1)", sections[version].strip())
    arguments.output.write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--time", type=int, required=True)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("image")
    command.add_argument("programs", type=Path)
    command.add_argument("architecture")
    command.set_defaults(run=image)
    command.add_argument("output", type=Path)
    command = commands.add_parser("sbom")
    command.add_argument("dependencies", type=Path)
    command.set_defaults(run=sbom)
    command.add_argument("output", type=Path)
    command = commands.add_parser("notes")
    command.set_defaults(run=notes)
    command.add_argument("output", type=Path)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    try:
        main()
    except Wrong as error:
        sys.exit(f"Scripts/release: {error}")
