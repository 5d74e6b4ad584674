"""What varies from run to run does not matter: a rule still fires on its own examples with other slots."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable

import pytest

from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.catalogue.lookup import fire
from diagnose.lines.prefix import split_prefix

RAISED = re.compile(r"^((?:\[rank\d+\]: |\([^)]{1,60}\) )?)(?:[A-Za-z_]\w*\.)+([A-Z]\w*(?:Error|Exception|Timeout))(?=:)", re.MULTILINE)
ROOT = re.compile(r"(?<![\w/.:\-])/(?!dev/|proc/|sys/|var/lib/|tmp/ray)[\w.\-+@]+(?=/[\w.\-+@]+/)")
ADDRESS = re.compile(r"(?<![\d.\w])(?:10|172|192)(?:\.\d{1,3}){3}(?![\d.])(?!:\d)")
BUILT_IN = frozenset(dir(builtins))

# The module is all that tells whose exception it is: any service has a `NotFound`, an `AuthenticationError`, a parser.
NAMED_BY_ITS_MODULE = {
    "config.authentication/ray-cluster-refused",
    "config.invalid-argument/spawned-object-not-picklable",
    "process.exception/class-tells-the-cause",
    "process.exception/ray-data-user-function-failed",
    "config.authentication/object-store-credentials",
    "config.authentication/service-refused-the-login",
    "config.authentication/tracker-or-api-key-refused",
    "config.invalid-argument/option-library-refused",
    "config.invalid-argument/user-configuration-error",
    "config.invalid-argument/yaml-file-cannot-be-parsed",
    "network.connect-timeout/client-library-timed-out",
    "network.connection-refused/client-library-refused",
    "network.connection-reset/client-library-lost-connection",
    "storage.io-error/file-cannot-be-used-now",
    "storage.io-error/object-store-failed",
}


# A scheduler and a launcher speak for themselves: no rank prints it.
SAID_BY_NO_RANK = {"memory.host-oom/dask-worker-over-its-budget", "process.exit-code/mpirun-exit-code"}


def without_its_module(text: str) -> str:
    """As a notebook and rich print an exception."""
    return RAISED.sub(lambda m: m[0] if m[2] in BUILT_IN else m[1] + m[2], text)


def under_another_root(text: str) -> str:
    """The same program on another machine."""
    return ROOT.sub("/mnt/größe-2/j.doe", text)


def at_another_address(text: str) -> str:
    return ADDRESS.sub("fd12:3456:789a::b", text)


def said_by(head: str) -> Callable[[str], str]:
    """Of a text that nobody's name stands before yet."""

    def change(text: str) -> str:
        lines = text.split("\n")
        return text if any(split_prefix(line).end for line in lines) else "\n".join(head + line for line in lines)

    return change


CHANGES: dict[str, Callable[[str], str]] = {
    "without_its_module": without_its_module,
    "under_another_root": under_another_root,
    "at_another_address": at_another_address,
    "by_a_rank": said_by("[rank12]: "),
    "by_an_actor": said_by("(TrainWorker pid=12345, ip=10.1.2.3) "),
    "by_a_task": said_by("[1,3]<stderr>:"),
    "by_a_child_of_torchrun": said_by("[default3]:"),
    "on_windows": lambda text: "\r\n".join(text.split("\n")),
}


TURNS = ("by_an_actor", "by_a_task", "by_a_child_of_torchrun")  # these share the rules: each hears a third of them


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_rules(fresh=True)


@pytest.mark.parametrize("name", CHANGES)
def test_a_rule_fires_on_its_example_with_another_slot(name: str, catalogue: Catalogue) -> None:
    lost = set()
    for number, rule in enumerate(catalogue.rules.values()):
        if name in TURNS and number % len(TURNS) != TURNS.index(name):
            continue
        for text in {example.text for form in rule.forms for example in form.examples}:
            changed = CHANGES[name](text)
            if changed != text and not any(hit.id == rule.id for hit, _ in fire(catalogue, changed)):
                lost.add(rule.id)

    assert {"without_its_module": NAMED_BY_ITS_MODULE, "by_a_rank": SAID_BY_NO_RANK}.get(name, set()) == lost
