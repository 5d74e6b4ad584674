"""What was handed over, as streams of bytes: files, archives, standard input; what collectors wrapped them in."""
