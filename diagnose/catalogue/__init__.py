"""Rules, causes and tables: read from YAML, checked, compiled, matched."""
