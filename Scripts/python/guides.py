#!/usr/bin/env python3
"""Makes this repository's guides part of the reference's site, and its first page a list of tasks.

See Scripts/documentation. Documentation/README.md is the source of both: its sections are the tasks, and each names
guides by a link and modules by their names.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from libraries import libraries

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "Documentation/README.md"
#: The name of the archive, and of the page that lists the guides.
GUIDES = "Guides"
TITLE, ABSTRACT = "swift-bluetooth-le", "Bluetooth Low Energy on Linux, in Swift. What would you like to do?"
#: The modules behind products that are C modules.
OVERLAYS = {"Combine": "CombineOverlay", "os": "OSOverlay"}
LINK = re.compile(r"\[([^]]*)\]\(([^)\s]+)\)")
#: Code, or a link.
CODE_OR_LINK = re.compile(rf"^```.*?^```$|^(?: {{4}}[^\n]*\n?)+|(?P<link>{LINK.pattern})|`[^`\n]*`", re.DOTALL | re.MULTILINE)


class Wrong(Exception):
    """The guides do not make a site."""


def pages() -> dict[Path, str]:
    """The guides and the names of their pages: those in Documentation, and those that its index links to."""
    found = {path: path.stem for path in sorted((ROOT / "Documentation").glob("*.md")) if path != INDEX}
    for _, target in LINK.findall(INDEX.read_text()):
        path = (INDEX.parent / target.partition("#")[0]).resolve()
        if path.parent != INDEX.parent and path.parent != ROOT:
            found.setdefault(path, path.parent.name)
    return found | {ROOT / "CONTRIBUTING.md": "Contributing", ROOT / "CHANGELOG.md": "Changes"}


def sections() -> list[tuple[str, list[str], list[str]]]:
    """The tasks of the index, each with the pages of its guides and its modules."""
    names, tasks = pages(), []
    modules = {name for group in libraries().values() for name in group}
    for text in re.split(r"^## ", INDEX.read_text(), flags=re.MULTILINE)[1:]:
        title, _, body = text.partition("\n")
        # One entry for each guide, even if two rows link to its sections.
        guides = dict.fromkeys(
            names[path] for _, target in LINK.findall(body)
            if (path := (INDEX.parent / target.partition("#")[0]).resolve()) in names)
        rows = [row for row in body.split("\n") if "the reference of" in row]
        listed = [OVERLAYS.get(name, name) for row in rows for name in re.findall(r"`(\w+)`", row)]
        tasks.append((title, list(guides), listed))
    known = modules - set(OVERLAYS)
    if missing := known - {name for _, _, listed in tasks for name in listed}:
        raise Wrong(f"Documentation/README.md names no page for {', '.join(sorted(missing))}")
    return tasks


# MARK: The catalog of the guides


def fragment(heading: str) -> str:
    """The name of a heading in DocC's links."""
    return re.sub(r"\s+", "-", re.sub(r"[`'\"]", "", heading).strip())


def slug(heading: str) -> str:
    """The name of a heading in GitHub's links."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def catalog(directory: Path) -> None:
    names = pages()
    repository = re.search(r'url: "([^"]*)\.git"', (ROOT / "Documentation/Installing.md").read_text())
    if not repository:
        raise Wrong("Documentation/Installing.md does not name the repository")
    directory.mkdir()
    for path, name in names.items():
        (directory / f"{name}.md").write_text(converted(path, names, repository[1]))
    topics = "\n".join(
        f"### {title}\n\n" + "\n".join(f"- <doc:{name}>" for name in guides) + "\n" for title, guides, _ in sections() if guides)
    listed = {name for _, guides, _ in sections() for name in guides}
    rest = "\n".join(f"- <doc:{name}>" for name in names.values() if name not in listed)
    (directory / f"{GUIDES}.md").write_text(
        f"# {GUIDES}\n\n@Metadata {{\n    @TechnologyRoot\n}}\n\nHow to use the library and the programs, and how they work.\n\n"
        f"## Topics\n\n{topics}\n### Also\n\n{rest}\n")


def converted(path: Path, names: dict[Path, str], repository: str) -> str:
    """A guide with links in DocC's form."""

    def link(match: re.Match[str]) -> str:
        title, target = match[1], match[2]
        if re.match(r"\w+:", target):
            return match[0]
        file, _, heading = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        if place in (INDEX, ROOT / "README.md"):
            return f"[{title}](doc:{GUIDES})"
        if place not in names:
            return f"[{title}]({repository}/blob/main/{place.relative_to(ROOT)})"
        # A file's name as a title becomes the title of its page.
        is_name = title in (place.name, f"{place.parent.name}/{place.name}")
        reference = names[place]
        if heading:
            found = [one for one in re.findall(r"^#+ +(.*)$", place.read_text(), re.MULTILINE) if slug(one) == heading]
            if not found:
                raise Wrong(f"{path.relative_to(ROOT)}: {target}: there is no such heading")
            reference += f"#{fragment(found[0])}"
        return f"<doc:{reference}>" if is_name else f"[{title}](doc:{reference})"

    text = path.read_text()
    # Comments for Scripts/readme and Scripts/recipes.
    text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.DOTALL | re.MULTILINE)
    return CODE_OR_LINK.sub(lambda match: LINK.sub(link, match[0]) if match["link"] else match[0], text)


# MARK: The first page


def landing(archive: Path) -> None:
    """Replaces the list of modules on the first page by the tasks."""
    place = archive / "data/documentation.json"
    page = json.loads(place.read_text())
    guides = json.loads((archive / f"data/documentation/{GUIDES.lower()}.json").read_text())
    references = page["references"] | guides["references"]
    page["references"] = {}
    page["topicSections"] = []
    page["topicSectionsStyle"] = "list"
    page["abstract"] = [{"type": "text", "text": ABSTRACT}]
    page["metadata"] |= {"title": TITLE}
    for title, names, modules in sections():
        identifiers = [f"doc://{GUIDES}/documentation/{GUIDES}/{name}" for name in names]
        identifiers += [f"doc://{name}/documentation/{name}" for name in modules]
        if missing := [one for one in identifiers if one not in references]:
            raise Wrong(f"the first page has no reference for {', '.join(missing)}")
        page["topicSections"].append({"title": title, "anchor": fragment(title), "identifiers": identifiers})
        page["references"] |= {one: references[one] for one in identifiers}
    for product, module in OVERLAYS.items():
        page["references"][f"doc://{module}/documentation/{module}"] |= {"title": product}
    place.write_text(json.dumps(page))
    add_headings(archive / "index/index.json", archive / f"data/documentation/{GUIDES.lower()}")


def add_headings(index: Path, guides: Path) -> None:
    """Adds the headings of the guides to what the sidebar lists and searches, and names the overlays as users do."""
    products = {module: product for product, module in OVERLAYS.items()}

    def extend(nodes: list[dict[str, Any]]) -> None:
        for node in nodes:
            prefix = f"/documentation/{GUIDES.lower()}/"
            node["title"] = products.get(node["title"], node["title"])
            if node.get("path", "").startswith(prefix) and "#" not in node["path"]:
                content = json.loads((guides / f"{node['path'].removeprefix(prefix)}.json").read_text())
                node["children"] = [
                    {"title": one["text"], "path": f"{node['path']}#{one['anchor']}", "type": "article"}
                    for section in content.get("primaryContentSections", []) for one in section.get("content", [])
                    if one.get("type") == "heading" and one["level"] == 2 and one["text"] != "Overview"]
            else:
                extend(node.get("children", []))

    content = json.loads(index.read_text())
    for nodes in content["interfaceLanguages"].values():
        extend(nodes)
    index.write_text(json.dumps(content))


if __name__ == "__main__":
    try:
        {"catalog": catalog, "landing": landing}[sys.argv[1]](Path(sys.argv[2]))
    except Wrong as error:
        sys.exit(f"Scripts/documentation: {error}")
