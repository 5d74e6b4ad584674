"""`diagnose mcp`: the tools for an assistant."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import files
from .pieces import Rules


def mcp(
    roots: Annotated[list[str], typer.Argument(metavar="ROOT...", help="folders that may be read", autocompletion=files)],
    port: Annotated[
        int | None, typer.Option("--http", metavar="PORT", min=0, max=65535, help="HTTP on 127.0.0.1 instead of stdio")
    ] = None,
    rules: Rules = None,
) -> int:
    """Serve the Model Context Protocol, so that an assistant can ask for verdicts on the logs below ROOT.

    Answers are bounded, and without secrets and private data. Nothing is written. Needs the extra `mcp`.
    """
    from pathlib import Path

    from ..mcp.roots import Roots
    from ..mcp.server import serve

    serve(Roots.of(roots), tuple(str(Path(folder).absolute()) for folder in rules or ()), port)
    return 0
