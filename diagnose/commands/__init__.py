"""The commands behind `cli.py`, each loaded only when it is asked for."""
