"""One line of text: who speaks, when, and what is left as the message."""
