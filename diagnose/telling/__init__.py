"""Job and verdict told as a report: its rows, its evidence, what it leaves out and why."""
