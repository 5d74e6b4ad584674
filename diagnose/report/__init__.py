"""The report: its parts, its words, and what is taken out of it before anybody sees it."""
