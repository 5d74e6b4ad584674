"""Patterns on whole lines: where a line is glued to another, who speaks as raw bytes, the rank in a group."""

from __future__ import annotations

import re

from .lazy_pattern import lazy

# The rank in a process group stays in the message, where rules look for it: `[PG ID 0 PG GUID 0(default_pg) Rank 2]`.
IN_GROUP = lazy(r"\[(?:PG [^\[\]]{1,200} )?Rank (\d{1,6})\]")

# Headers so particular that they begin a new line even without a bar: `epoch 3 done[rank1]:[E1206 18:44:12.715298746`.
GLUED = lazy(
    r"(?<=[^\s'\"(=,:`])(?:"
    r"(?:\[[a-z]{1,20}\d{1,4}\]:)?(?:\[rank\d{1,6}\]:(?:\[[IWEF][ \d]| (?=\S))|\[[IWEF]\d{3,4} \d\d:\d\d:\d\d\.\d{9} )|"
    r"\[[IWEF] [\w./]{1,80}\.(?:cpp|hpp|cc|h):\d{1,6}\]|"
    r"[IWEF](?:\d{4}|\d{8}) \d\d:\d\d:(?:\d\d|\d{10})\.\d{6} {1,6}\d{1,20} [\w./-]{1,160}:\d{1,6}\])"
)
NCCL_HEAD = lazy(r"[\w.-]{1,63}:\d{1,9}:\d{1,9} \[\d{1,3}\] (?:\S{1,80}:\d{1,5} )?NCCL [A-Z]")
# What begins a new line only behind a progress bar, which no line end follows: headers, as in
# `4/10 [00:10<00:12]2026-11-20 17:03:28,001 - ERROR`, and what shells, launchers and dying processes say, as in
# `4/10 [00:10<00:12,  2.1s/it]Killed`. Where it was drawn over the rest of the bar, only the bar's blocks stand before it.
GLUED_AFTER_BAR = lazy(
    r"(?:(?:it/s|s/it|B/s|examples/s|<\d\d:\d\d|<\?)[^\]\n]{0,200}\]|\d%\|[█▉▊▋▌▍▎▏]{1,300}) {0,3}"
    r"(?=\[rank\d|\[default\d|\[[IWEF][ \d]|"
    r"[IWEF](?:\d{4}|\d{8}) \d\d:|\[?\d{4}-\d\d-\d\d[ T]\d\d:|\d\d/\d\d/\d{4} \d\d:|\[(?:INFO|WARNING|ERROR)|"
    r"(?:INFO|WARNING|ERROR|CRITICAL)[: ]|Traceback \(most recent|\{['\"]\w|\(\w[\w()\[\]=>.:-]{0,100} pid=|"
    r"[\w.]{1,80}(?:Error|Exception): |[\w.-]{1,63}:\d+:\d+ \[\d|terminate called |Fatal Python error: |"
    r"(?:Killed|Terminated|Segmentation fault|Bus error|Aborted|Illegal instruction)(?: \(core dumped\))?\s{0,3}$|"
    r"(?:Memory access fault|HW Exception) by GPU |"
    r"double free or corruption|(?:free|malloc|realloc|munmap_chunk)\(\): |corrupted |"
    r"(?:[Ss]av|[Ll]oad|[Ee]valuat|[Vv]alidat|[Rr]unn|[Uu]pload|[Ww]rit)ing [a-z]|[Rr]ank \d{1,6}: |Error on rank \d|"
    r"[\w./-]{1,120}: line \d|slurmstepd: |srun: |mpirun: |\*\*\* |[Ll]oss is |WARNING: )"
)

# What NCCL said last, quoted in the line of who asked it: by XLA, and by c10 where a paste has lost its line ends.
QUOTED_AFTER = lazy(
    r"Last NCCL warning\(error\) log entry \(may be unrelated\):? '|"
    r"\bnccl[A-Z]\w{5,20}Error: [^\n]{1,200}? Last error: ?(?=\S)"
)

# The leading bytes that tell speakers apart; times between them are skipped, so that one speaker has one text.
SPEAKER = lazy(
    rb"""(?:\x1b\[[0-9;]{0,12}m)*(?:[ ]{1,300}(?=\[rank))?
    (?:(?:\d{4}-\d\d?-\d\d?[T ][\d:.,]{5,25}(?:Z|[+-]\d\d:?\d\d)?|\d\d/\d\d/\d{2,4}\ [\d:]{8}|
        \w{3}\ [\ \w]{1,4}\ \d\d:\d\d:\d\d(?:\ \d{4})?)
        [ \t]{0,2})?
    ((?:std(?:out|err)\ [FP]\ )?)
    (\[pod/[^\]\s]{1,300}\]\ |[a-z0-9][a-z0-9.-]{1,100}[ ][a-z0-9][a-z0-9-]{0,40}(?=[ ]\[rank\d)|
        [ ]{0,5}\d{1,6}:(?=[ ])|\[\d[\d,a-z:]{0,30}\]<std\w{3}>:|
        (?!(?:Process|Epoch|Step|Iter(?:ation)?|Batch|Round|Episode)\ \d)
        [A-Za-z0-9][\w.-]{0,62}(?:/\d{1,5}|:|[ ]\S{1,60}:|[ ]\[std\w{3}\]|[ ]{1,40}\|)(?=[ ])|)
    [ ]?
    ((?:\x1b\[[0-9;]{0,12}m)?\([^()]{0,80}(?:pid|ip)=[^()]{1,60}\)|)
    (?:\x1b\[[0-9;]{0,12}m)?[ ]?
    (\[(?!rank)[A-Za-z][\w.-]{0,60}(?:[:|]?\d{1,4}\]:|:\d{1,8}(?:,[ ]rank=\d{1,6})?\](?=[ ]))|
        \[(?:[Tt]ask|[Ww]orker|[Pp]roc(?:ess)?)[ ]\d{1,6}\]|\[[A-Za-z][\w.-]{0,62}[ ]r(?:ank[ =:]?)?\d{1,6}\]|)
    (\[rank[ :=]{0,2}\d{1,6}\]:?|rank\d{1,6}[:\[]|)[ ]?
    (?:\[[IWEF][^\[\]]{1,200}\][ ]|(?:\[[^\[\]]{4,200}\][ ]{0,2}){1,5}?(?=\[(?i:rank)|\w{1,63}:\d)|
        (?:-[ ][\w.]{1,60}[ ]){1,3}-[ ]|[\d:.,-]{8,35}[ ]\|[ ]\w{4,8}[ ]{1,6}\|[ ]|\|[ ]\w{4,8}[ ]{1,6}\|[ ]|
        (?:\|[ ][A-Za-z_][\w.:-]{0,60}[ ]{1,9}){0,2}\|[ ](?=r\d|[Rr]ank)|)
    (\[(?:PG\ [^\[\]]{1,200}\ )?[Rr](?:ank|ANK)[ :]{0,2}\d{1,6}\]|(?:r|[Rr]ank[ =:]?)\d{1,6}(?=(?:/\d{1,6})?\ {1,5}\|)|
        [A-Za-z0-9][\w.-]{0,62}:\d{1,8}(?=:\d{1,8}\ )|)""",
    re.VERBOSE,
)
