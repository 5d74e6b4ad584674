"""`python -m diagnose`."""

from .cli import main

main()
