"""A `View` and a Jinja template in, text out: ours under `templates/`, or a user's (docs/templates.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..report.language import Say
from ..report.printable import clip, one_line
from . import junit_text, markdown_text
from .tables import filled
from .view import EvidenceView, View

if TYPE_CHECKING:
    from jinja2 import Environment

NO_FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType({})
TEMPLATES = Path(__file__).parent / "templates"
HTML_SUFFIXES = (".html", ".htm", ".html.j2", ".htm.j2", ".xml", ".xml.j2")


def lay_out(view: View, say: Say, name: str, filters: Mapping[str, Callable[..., Any]] = NO_FILTERS, **more: object) -> str:
    """Yield the view in one of our own templates, which may need filters of its own."""
    environment = _environment(TEMPLATES)
    environment.filters.update(filters)
    return environment.get_template(name).render(view=view, say=say, **more)


def lay_out_with(template: str | Path, view: View, say: Say, data: Mapping[str, Any]) -> str:
    """Yield the view in a user's template, which gets the whole report as `report` too."""
    from jinja2 import TemplateError

    path = Path(template)
    if not path.is_file():
        raise UsageError(f"{path}: no such template")
    try:
        return _environment(path.parent).get_template(path.name).render(view=view, say=say, report=data)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        line = getattr(error, "lineno", None)
        raise UsageError(f"{path}{f':{line}' if line else ''}: {error}") from error


def block(e: EvidenceView, say: Say) -> str:
    """Yield the lines of a proof with their numbers, `>` before the lines that prove it."""
    numbers = [len(str(line.number)) for line in e.lines if line.number is not None]
    width = max(numbers, default=0)
    rows = []
    for i, line in enumerate(e.lines):
        number = "" if line.number is None else str(line.number)
        gutter = f"{number:>{width}} | " if width else ""
        rows.append(f"{'>' if line.is_hit else ' '} {gutter}{line.text}".rstrip())
        if i == e.gap_after:
            rows.append("  " + say("more-lines", n=e.left_out))
    return "\n".join(rows)


@lru_cache(maxsize=4)  # compiling our templates takes longer than filling them
def _environment(folder: Path) -> Environment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FileSystemLoader([str(folder), str(TEMPLATES)]),
        autoescape=lambda name: bool(name) and str(name).endswith(HTML_SUFFIXES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        md=markdown_text.text,
        md_link=markdown_text.link,
        code=markdown_text.code,
        cell=markdown_text.text,  # a `|` would end a cell: `text` escapes it everywhere
        code_cell=markdown_text.code_cell,
        fence=markdown_text.fence,
        slack=markdown_text.slack,
        slack_code=markdown_text.slack_code,
        slack_fence=markdown_text.slack_fence,
        block=block,
        filled=filled,
        clip=clip,
        one_line=one_line,
        xml=junit_text.xml,
        quoted=junit_text.quoted,
        github=markdown_text.github,
        github_property=markdown_text.github_property,
    )
    return environment
