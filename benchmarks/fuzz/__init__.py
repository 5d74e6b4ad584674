"""Feeds the command line with damaged logs, archives, dumps, settings, rules and words, and reports what it cannot bear."""
