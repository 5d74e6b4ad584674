"""Where `diagnose.integrations` was before."""

from ..integrations import *  # noqa: F403
