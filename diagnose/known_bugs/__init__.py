"""Known bugs of libraries against the versions that run."""
