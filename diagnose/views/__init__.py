"""A report as terminal text, Markdown, HTML or annotations; views lay out, they do not decide."""

FORMATS = ("terminal", "markdown", "html", "json", "slack", "github", "junit")
