"""What the site has beside this folder: the catalogue, made when it is built, and the pages at the top of the repository.

A hook of MkDocs. Links in copied pages are turned to where their targets lie on the site.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.catalogue.rule import Cause

ROOT = Path(__file__).parent.parent
COPIED = {
    "README.md": "index.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md", "rules/README.md": "rules.md",
}  # fmt: skip
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that do not lie in docs/."""
    for source, target in COPIED.items():
        files.append(File.generated(config, target, content=copied(ROOT / source, config["repo_url"])))
    for target, text in catalogue_pages(load_rules()):
        files.append(File.generated(config, target, content=text))
    return files


def copied(path: Path, repository: str) -> str:
    """Yield a page with its links as they are on the site; what is not on it is shown in the repository."""

    def turned(match: re.Match[str]) -> str:
        target, anchor = (path.parent / match[1]).resolve(), match[2] or ""
        name = target.relative_to(ROOT).as_posix()
        if not target.exists():
            raise FileNotFoundError(f"{path.name} links to {name}, which is not there")
        here = COPIED.get(name) or (name.removeprefix("docs/") if name.startswith("docs/") else None)
        return f"]({here or f'{repository}/blob/main/{name}'}{anchor})"

    return LINK.sub(turned, path.read_text(encoding="utf-8"))


def catalogue_pages(catalogue: Catalogue) -> list[tuple[str, str]]:
    """Yield a page for each layer of causes, and the page that lists them."""
    layers: dict[str, list[Cause]] = {}
    for cause in catalogue.causes.values():
        layers.setdefault(cause.id.partition(".")[0], []).append(cause)
    rows = sum(len(table.rows) for table in catalogue.tables.values())
    size = f"{len(catalogue.rules)} rules over {len(catalogue.causes)} causes, and {rows} rows of codes."
    index = ["# Catalogue", "", size, ""]
    pages = []
    for layer, causes in layers.items():
        index += [f"## [{layer}]({layer}.md)", "", "| cause | what it is |", "| --- | --- |"]
        index += [f"| [`{c.id}`]({layer}.md#{anchor(c)}) | {cell(c.title)} |" for c in causes] + [""]
        text = [f"# {layer}", "", *(line for cause in causes for line in section(cause, catalogue))]
        pages.append((f"catalogue/{layer}.md", "\n".join(text) + "\n"))
    return [("catalogue/index.md", "\n".join(index)), *pages]


def section(cause: Cause, catalogue: Catalogue) -> list[str]:
    """Yield what is known of a cause."""
    rules = [rule for rule in catalogue.rules.values() if rule.cause == cause.id]
    lines = [f"## {cell(cause.title)} {{ #{anchor(cause)} }}", "", f"`{cause.id}`", "", escaped(cause.means), ""]
    for step in cause.remedy:
        lines.append(f"- **{step.when}** {escaped(step.text)}" + (f" (if `{step.condition}`)" if step.condition else ""))
        if step.command and "{" not in step.command:
            lines += ["", "        " + step.command.replace("\n", "\n        "), ""]
    if rules:
        lines += ["", "| message | role |", "| --- | --- |", *(f"| {cell(rule.title)} | {rule.role} |" for rule in rules)]
    return [*lines, "", *(f"<{address}>  " for address in cause.references), ""]


def anchor(cause: Cause) -> str:
    """Yield the name of a cause's section."""
    return cause.id.replace(".", "-")


def escaped(text: str) -> str:
    """Yield text whose brackets and stars are no markup."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))


def cell(text: str) -> str:
    """Yield text for a table's cell."""
    return escaped(text)
