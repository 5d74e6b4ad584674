"""A running job's logs, read while they grow: who fell behind, who stopped, which error appeared."""
