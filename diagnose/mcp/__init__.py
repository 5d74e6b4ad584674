"""The Model Context Protocol: an assistant asks for verdicts, lines and pages, within folders named at the start."""
