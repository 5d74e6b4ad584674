"""`diagnose run`: the job in front, ourselves aside; only the standard library while it waits."""
