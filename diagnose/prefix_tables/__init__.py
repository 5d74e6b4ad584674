"""The forms of prefixes, one table a file: how launchers, shippers and loggers begin a line."""
