"""Checks a catalogue: what `diagnose rules test` proves of every rule, cause and table. Yields faults as lines of text.

And what its literals cost on a folder of ordinary logs: `diagnose rules test --literals DIR`.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import SourceError
from ..lines.prefix import read_lines
from ..report.translation import translation_faults
from .load import SHIPPED, Catalogue, load_yaml
from .lookup import fire, has_frame
from .matcher import Matcher, PatternTimeout
from .pattern_facts import adversarial_texts, implies, is_anchored, neighbours, re2_faults
from .rule import Cause, Form, Rule
from .sentences import fault_in, names_in, sentence

FORBIDDEN_IN_LITERALS = "\"'\\<>&"  # they do not survive JSON, HTML and shell escaping
MIN_LITERAL = 4  # shorter ones hit everywhere
COMMON_WORDS = frozenset(("failed", "failure", "returned", "error", "warning", "info", "invalid", "timeout", "rank"))
ADVERSARIAL_LIMIT_S = 0.05
TRIES = 5  # on a busy machine one of them may take twice its time
TITLE_WORDS = 8
# What more lines than the one that a pattern reads fill in, and what our table of known bugs does.
ALWAYS = {"rank", "host", "pid", "world_size", "last_error", "installed", "beside"}
REMEDY_ORDER = ("now", "fix", "prevent", "collect")


def check_catalogue(
    catalogue: Catalogue,
    only: str | tuple[str, ...] | None = None,
    folders: Sequence[Path] = (),
    asked: Catalogue | None = None,
) -> Iterator[str]:
    """Yield one line for each fault, in catalogue order. `only`: how ids start, or which they are. `folders`: those the
    catalogue was read from; their translations are checked. `asked`: the part of it that texts are tried on."""
    is_asked = only.__contains__ if isinstance(only, tuple) else lambda name: name.startswith(only or "")
    for cause in catalogue.causes.values():
        if is_asked(cause.id):
            is_own = any((f / cause.id.replace(".", "/", 1) / "cause.yaml").is_file() for f in folders[1:])
            faults = (*_cause_faults(catalogue, cause), *(_faults_of_own(catalogue, cause) if is_own else ()))
            yield from (f"{cause.id}: {fault}" for fault in faults)
            yield from (f"{cause.id}: {fault}" for fault in translation_faults(cause, catalogue.rules, folders))
    seen: dict[str, str] = {}
    for rule in catalogue.rules.values():
        if not is_asked(rule.id):
            continue
        yield from (f"{rule.id}: {fault}" for fault in _rule_faults(catalogue, rule, asked or catalogue))
        for form in rule.forms:
            shape = _shape(form, rule)
            if seen.setdefault(shape, rule.id) != rule.id:
                yield f"{rule.id}: says the same as {seen[shape]}; make it a form of that rule"


def _cause_faults(catalogue: Catalogue, cause: Cause) -> Iterator[str]:
    if len(cause.title.split()) > TITLE_WORDS or " or " in cause.title or "," in cause.title:
        yield f"title: at most {TITLE_WORDS} words, no `or`, no comma: it is the headline"
    for link in cause.explains:
        if link.cause == cause.id:
            yield "explains itself"
        elif not _known(catalogue, link.cause):
            yield f"explains {link.cause}, which is no cause"
    texts = (text for step in cause.remedy for text in (step.text, step.command or ""))
    yield from (f"remedy: {fault}" for fault in map(fault_in, texts) if fault)
    whens = [r.when for r in cause.remedy]
    if sorted(whens, key=REMEDY_ORDER.index) != whens:
        yield "remedy is not in the order now, fix, prevent, collect"
    if "now" not in whens:
        yield "remedy has no `now`"
    if not (cause.collect_next_time or "collect" in whens):
        yield "says nothing about what to collect next time"
    yield from _references(cause.references)
    named = any(r.cause == cause.id and r.role in ("cause", "symptom") for r in catalogue.rules.values())
    in_table = any(row.get("cause") == cause.id for t in catalogue.tables.values() for row in t.rows)
    if not (named or in_table or cause.findings_only):
        yield "no rule names it; add one, or say `findings_only: which correlator finds it`"


def _faults_of_own(catalogue: Catalogue, cause: Cause) -> Iterator[str]:
    """What is asked of a user's cause alone: names in its steps are read by its rules, or known to the shipped steps."""
    read = {name for rule in catalogue.rules.values() if rule.cause == cause.id for name in _readable(catalogue, rule)}
    read |= {name for other in catalogue.causes.values() if other.id != cause.id for name in _asked(other)}
    yield from (f"remedy names {name}, which nothing fills in" for name in sorted(set(_asked(cause)) - read))
    yield from _untouched("new-cause.template", title=cause.title, means=cause.means)


def _asked(cause: Cause) -> Iterator[str]:
    """The names of the values that its steps ask for."""
    for step in cause.remedy:
        condition = f"{{{{ {step.condition} }}}}" if step.condition else ""
        yield from (name for text in (step.text, step.command or "", condition) for name in names_in(text))


def _readable(catalogue: Catalogue, rule: Rule) -> set[str]:
    """The names of what a rule's line fills in: its fields, and the columns of the row that they pick."""
    rows = catalogue.tables[rule.table_name].rows if rule.table_name in catalogue.tables else ()
    return {*rule.fields, *(name for row in rows for name in row)}


def _untouched(template: str, **texts: str) -> Iterator[str]:
    """The texts that are still those of the template that `rules new` writes."""
    drawn = load_yaml(SHIPPED / template, (SHIPPED / template).read_bytes())
    yield from (f"{name}: still that of the template; write your own" for name in texts if drawn[name] == texts[name])


def _known(catalogue: Catalogue, name: str) -> bool:
    if name.endswith(".*"):
        return any(c.startswith(name[:-1]) for c in catalogue.causes)
    return name in catalogue.causes


def _references(references: tuple[str, ...]) -> Iterator[str]:
    for reference in references:
        if not re.match(r"https?://\S+$", reference):
            yield f"reference is no URL: {reference}"


def _rule_faults(catalogue: Catalogue, rule: Rule, asked: Catalogue) -> Iterator[str]:
    if rule.cause is None and rule.role in ("cause", "symptom", "confirmation"):
        yield f"role {rule.role} outside a cause's folder"
    if not rule.counter_examples:
        yield "needs at least one counter-example"
    if not rule.forms:
        yield "needs at least one form"
    if rule.onset not in (None, "unknown") and rule.onset not in rule.fields:
        yield f"onset names no field: {rule.onset}"
    yield from _names_of_nothing(catalogue, rule)
    yield from _untouched("new-rule.template", title=rule.title, why=rule.why, says=rule.says)
    yield from _references(rule.references)
    for number, form in enumerate(rule.forms):
        label = f"form {number + 1}: " if len(rule.forms) > 1 else ""
        yield from (label + fault for fault in _form_faults(rule, form))
        yield from (label + fault for fault in _example_faults(catalogue, rule, form, asked))
    for counter in rule.counter_examples:
        if any(hit.id == rule.id for hit, _ in fire(asked, counter.text)):
            yield f"fires on its counter-example: {counter.text[:80]!r}"


def _names_of_nothing(catalogue: Catalogue, rule: Rule) -> Iterator[str]:
    yield from (f"undoes no rule that there is: {name}" for name in rule.undoes if name not in catalogue.rules)
    whole = catalogue.rules.get(rule.rest_of or "")
    if rule.rest_of and not (rule.match == "block" and whole is not None and whole.match == "block" and whole != rule):
        yield f"rest_of names no other rule of a block: {rule.rest_of}"
    if unread := names_in(rule.says) - _readable(catalogue, rule) - ALWAYS:
        yield f"says: names {', '.join(sorted(unread))}, which it does not read"
    if "{{" in rule.title:
        yield "title: is shown as it is; a value belongs into `says`"
    if rule.table and rule.table_name not in catalogue.tables:
        yield f"no table {rule.table_name}"


def _form_faults(rule: Rule, form: Form) -> Iterator[str]:
    faults = re2_faults(form.pattern) + (re2_faults(form.prefix) if form.prefix else [])
    yield from faults
    if form.prefix and rule.match != "line":
        yield "prefix is for match: line"
    if any("compile" in fault for fault in faults):
        return
    groups = set(re.compile(form.pattern).groupindex)
    if groups - set(rule.fields):
        yield f"captures without a type in `fields`: {', '.join(sorted(groups - set(rule.fields)))}"
    for literal in form.literals:
        if any(c in FORBIDDEN_IN_LITERALS or (not c.isascii() and c.lower() != c.upper()) for c in literal):
            yield f"literal {literal!r} holds a quote, backslash, <, > or &, or an accented letter"
        if len(literal) < MIN_LITERAL:
            yield f"literal {literal!r} is shorter than {MIN_LITERAL}"
        if literal.strip() in COMMON_WORDS:
            yield f"literal {literal!r} stands on every other line; take more of what the pattern asks for"
    proven_by = [form.pattern] if form.prefix is None else [form.pattern, form.prefix]
    if not form.literals or not any(implies(p, form.literals, form.ignore_case) for p in proven_by):
        yield "literals are not necessary for the pattern"
    if rule.role == "cause" and rule.match in ("line", "block") and not rule.unanchored and not is_anchored(form.pattern):
        yield "role cause: start the pattern with ^, or say `unanchored: why`"
    yield from _slow(form)


def _slow(form: Form) -> Iterator[str]:
    """Look for repeats side by side; where there are none, try the pattern on texts made from itself to keep it busy."""
    if side_by_side := neighbours(form.pattern):
        yield from side_by_side
        return
    matcher = Matcher(())
    for text in adversarial_texts(form.pattern):
        if all(_cpu_s(matcher, form, text) > ADVERSARIAL_LIMIT_S for _ in range(TRIES)):
            yield f"takes more than {ADVERSARIAL_LIMIT_S:.2f} s on {text[:60]!r}…"
            return


def _cpu_s(matcher: Matcher, form: Form, text: str) -> float:
    started = time.process_time()
    with contextlib.suppress(PatternTimeout):
        matcher.verify(form, text)
    return time.process_time() - started


def _example_faults(catalogue: Catalogue, rule: Rule, form: Form, asked: Catalogue) -> Iterator[str]:
    if not form.examples:
        yield "needs at least one example"
    for example in form.examples:
        hits = fire(asked, example.text)
        mine = [fields for hit, fields in hits if hit.id == rule.id]
        if not mine:
            yield f"does not fire on its example: {example.text[:80]!r}"
        elif example.fields != (mine[0] if not rule.table else {k: mine[0].get(k) for k in example.fields}):
            yield f"reads {mine[0]!r} from its example, which states {example.fields!r}"
        else:
            try:
                said = sentence(rule.says, {**dict.fromkeys(rule.fields), **mine[0]})
            except ValueError as error:
                said = str(error)
                yield f"says: {error}"
            if not said.strip():
                yield "says nothing"
        yield from _strangers(catalogue, rule, [hit for hit, _ in hits], example.text)


def _strangers(catalogue: Catalogue, rule: Rule, hits: list[Rule], text: str) -> Iterator[str]:
    """Rules of another cause that the example fires too, though neither cause explains the other."""
    for hit in hits:
        if hit.id == rule.id or hit.role not in ("cause", "symptom") or rule.role == "context":
            continue
        if (hit.frame is not None and not has_frame(hit, text)) or (hit.frame is None and has_frame(rule, text)):
            continue  # what asks for a frame stays silent without one, and speaks alone where it has it
        if rule.role == "harmless" and hit.role == "symptom":
            continue  # what it matches is evidence of nothing else, such as a call that fails in a side service
        mine, other = rule.cause, hit.cause
        if mine == other or (mine and other and (catalogue.explains(mine, other) or catalogue.explains(other, mine))):
            continue
        yield f"its example also fires {hit.id}: {text[:80]!r}"


def _shape(form: Form, rule: Rule) -> str:
    """A pattern without its captures' names and numbers: two rules alike but for these say the same."""
    nameless = re.sub(r"\?P<\w+>", "?:", form.pattern)
    return f"{rule.match} {rule.frame} {form.prefix} {form.ignore_case} {nameless}"


# --- what literals cost ------------------------------------------------------------------------------------------------

MAX_LINE = 8 * 1024  # bytes of a line that are asked
MAX_ASKED = 200  # lines of one literal whose patterns are tried; the rest is told from these
WIDTH = 40  # characters of a literal and of a rule that are shown


def literal_costs(catalogue: Catalogue, folder: Path) -> Iterator[str]:
    """Yield a row for each literal that stands in the logs: hits, share of all hits, verified ones, CPU ms, rule."""
    asked = [r for r in catalogue.rules.values() if r.tells != "progress" and not (r.generic and r.match == "traceback")]
    matcher = Matcher(asked)  # as a scan asks them
    hits, verified, tried, spent = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    size = 0
    for data in _files(folder):
        size += len(data)
        for end, literal in matcher.find(data):
            hits[literal] += 1
            if tried[literal] < MAX_ASKED:
                started = time.process_time_ns()
                verified[literal] += _is_verified(matcher, literal, data, end)
                spent[literal] += time.process_time_ns() - started
                tried[literal] += 1
    whole = sum(hits.values())
    yield f"{whole} hits in {size / 1e6:.1f} MB"
    yield f"{'literal':{WIDTH}} {'hits':>8} {'share':>6} {'verified':>8} {'ms':>8}  rule"
    for literal, count in hits.most_common():
        scale = count / tried[literal]
        rule = matcher.index.candidates[matcher.index.owners[literal][0]].rule.id
        text = matcher.index.literals[literal].text.decode("utf-8", "replace")[:WIDTH]
        ms = spent[literal] * scale / 1e6
        yield f"{text:{WIDTH}} {count:8} {count / whole:6.1%} {verified[literal] * scale:8.0f} {ms:8.1f}  {rule}"


def _files(folder: Path) -> Iterator[bytes]:
    paths = sorted(p for p in folder.rglob("*") if p.is_file())
    if not paths:
        raise SourceError(f"{os.fspath(folder)}: no file in it; give a folder of ordinary logs")
    for path in paths:
        try:
            yield path.read_bytes()
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}") from error


def _is_verified(matcher: Matcher, literal: int, data: bytes, end: int) -> bool:
    """Whether the pattern of any form that has the literal matches the line."""
    start, stop = data.rfind(b"\n", 0, end) + 1, data.find(b"\n", end)
    line = data[start : stop if stop >= 0 else len(data)][:MAX_LINE].decode("utf-8", "replace")
    pieces = [(x.raw[: x.prefix.end], x.message) for x in read_lines(0, line)]
    candidates = [matcher.index.candidates[n] for n in matcher.index.owners[literal]]
    try:
        return any(matcher.verify_line(c, message, prefix) is not None for c in candidates for prefix, message in pieces)
    except PatternTimeout:
        return False
