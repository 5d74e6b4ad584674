"""The sentences that `account` adds to what rules and causes say, in English and Simplified Chinese."""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.rank_ranges import rank_ranges
from .phrases import FROM_OUTSIDE

_TEXTS: dict[str, tuple[str, str]] = {
    "unknown-title": ("no evidence of a cause in the logs", "日志中没有指向根因的证据"),
    "unknown-summary": ("The logs show that the job failed, but not why.", "日志表明作业失败了，但看不出原因。"),
    "unknown-now": (
        "Look at the last lines of each rank below; the rank that stops earliest is the one to ask.",
        "查看下面每个 rank 的最后几行；最早停下的那个 rank 最值得追查。",
    ),
    "unknown-traceback": (
        "The rest of the traceback with which the text breaks off: its last line names the exception.",
        "文本在 traceback 中途断开，请补上其余部分：最后一行会写明异常。",
    ),
    "unknown-logs": (
        "All ranks' logs, the launcher's own output and the kernel log of each host.",
        "所有 rank 的日志、启动器自己的输出，以及每台主机的内核日志。",
    ),
    "unknown-switches": ("Switch on what names the cause next time.", "打开这些开关，下次就能指出原因。"),
    "unknown-files": ("One file per rank.", "每个 rank 一个日志文件。"),
    "other-job-failed": (
        "Its files are among the inputs and it failed too; the verdict is about the later job.",
        "输入中有它的文件，它也失败了；结论针对更晚的作业。",
    ),
    "other-job": (
        "Its files are among the inputs and show no failure; the verdict is not about it.",
        "输入中有它的文件，没有失败的迹象；结论不针对它。",
    ),
    "no-end": ("a collective does not come to its end", "某个集合通信一直没有完成"),
    "bug": ("a known bug of {name}: {bug}", "{name} 的已知 bug：{bug}"),
    "consequence": ("It is a consequence of {cause}{place}.", "它是 {cause}{place}的后果。"),
    "less-direct": (
        "It says that something broke, not why; {cause} names a reason.",
        "它只说明有东西坏了，没有说明原因；{cause} 给出了原因。",
    ),
    "later": ("It began {seconds:.0f} s later.", "它晚了 {seconds:.0f} s 才开始。"),
    "fits-less": ("It fits less of what the logs show.", "它能解释的日志内容更少。"),
    "by-rank": (" on rank {rank}", "（rank {rank}）"),
    "by-host": (" on {host}", "（{host}）"),
    "more-time": ("Give it more time.", "给它更多时间。"),
    "unread": ("Not read: {files}: {why}.", "未读取：{files}：{why}。"),
    "and-more": (" and {n:,} more", " 等另外 {n:,} 个"),
    "no-line": ("No line of {ranks} was recognised among the inputs.", "输入中没有认出属于 {ranks} 的任何一行日志。"),
    "ends-in-error": (
        "The last line, {place}, is an error that no rule knows: read it and what stands above it.",
        "最后一行 {place} 是没有规则认识的报错：请查看该行及其上文。",
    ),
    "recorder-of-nobody": (
        "Nothing tells which rank wrote {files}; not compared with the others.",
        "无法得知 {files} 由哪个 rank 写出；未与其他记录比较。",
    ),
    "name-recorders": (
        "Keep the names that PyTorch gives the dumps: nccl_trace_rank_0, nccl_trace_rank_1, …",
        "请保留 PyTorch 给转储文件起的名字：nccl_trace_rank_0、nccl_trace_rank_1……",
    ),
    "every-rank": (
        "Collect the logs of every rank; a rank without a log is never called the culprit.",
        "收集每个 rank 的日志；没有日志的 rank 绝不会被判为故障源。",
    ),
}
# Why a cause is seen where another one is the root: what a launcher, a library or a peer does then.
_REASONS: dict[str, tuple[str, str]] = {
    "collective.timeout": ("they waited in vain until the limit passed", "它们一直空等到超时"),
    "collective.shape-mismatch": ("that is how it shows in a collective", "它在集合通信中就这样表现出来"),
    "network.connection-reset": ("their peer had gone", "它们的对端已经退出"),
    "network.connection-refused": ("nobody listens there any more", "那里已经没有进程在监听"),
    "network.connect-timeout": ("nobody answered them", "没有进程应答它们"),
    "rendezvous.timeout": ("not all the others came", "其他成员没有到齐"),
    "nccl.internal-error": ("that is how NCCL reports it", "NCCL 就这样上报"),
    "nccl.remote-error": ("their peer had gone", "它们的对端已经退出"),
    "nccl.invalid-usage": ("that is how NCCL reports it", "NCCL 就这样上报"),
    "nccl.system-error": ("that is how NCCL reports it", "NCCL 就这样上报"),
    "process.abort": ("a process that cannot go on aborts itself", "无法继续的进程会自行中止"),
    "process.exception": ("it passes the failure on", "它只是把失败传递出来"),
    "process.exit-code": ("a launcher reports that a process failed, not why", "启动器只报告有进程失败，不说明原因"),
    "process.sigkill": ("it says that a process was killed, not by whom", "它只说明进程被杀，没有说明是谁"),
    "process.terminated": ("a launcher ends the others once one has failed", "一个进程失败后，启动器会终止其余进程"),
    "ray.actor-died": ("Ray tells the driver that what it waits for will not come", "Ray 告诉 driver，等待的结果不会来了"),
}

# The same where the job was ended from outside, and none of its processes had failed.
_TOLD_TO_END = ("a launcher that is told to end ends its processes", "启动器收到结束信号后，会终止它的进程")


class Words:
    """The frame's sentences in one language."""

    def __init__(self, is_chinese: bool = False) -> None:
        self._column = int(is_chinese)

    def say(self, key: str, **values: object) -> str:
        """Yield the sentence of this key, filled."""
        text = _TEXTS[key][self._column]
        return text.format(**values) if values else text

    def other_job(self, *, failed: bool) -> str:
        """Yield what is said of a job that is not diagnosed."""
        return self.say("other-job-failed" if failed else "other-job")

    def reason(self, cause: str, root: str) -> str:
        """Yield why this cause follows from the root; nothing where it depends."""
        if cause == "process.terminated" and root in FROM_OUTSIDE:
            return _TOLD_TO_END[self._column]
        return _REASONS[cause][self._column] if cause in _REASONS else ""

    def ranks(self, ranks: Sequence[int]) -> str:
        """Yield `rank 2` or `ranks 0-3`; Chinese has no plural."""
        return f"rank{'s' if len(ranks) > 1 and not self._column else ''} {rank_ranges(ranks)}"

    def summary(self, title: str, ranks: Sequence[int], hosts: Sequence[str], said: str) -> str:
        """Yield the verdict in one sentence: what, where, and what was said there."""
        host = hosts[0] if len(hosts) == 1 else ""
        places = [*([self.ranks(ranks)] if ranks else []), *([host] if host else [])]
        if self._column:
            where = f"{places[0]}{f'（{host}）' if len(places) == 2 else ''}：" if places else ""
            return f"{where}{title}。{said}"
        where = (f" on {places[0]}" if places else "") + (f" ({host})" if len(places) == 2 else "")
        return f"{title[:1].upper()}{title[1:]}{where}{': ' + said if said else '.'}"
