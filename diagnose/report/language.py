"""The words of the frame around a report, in English and Simplified Chinese; what the catalogue says is not here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from ..errors import UsageError

Language = Literal["en", "zh"]
Say = Callable[..., str]

_TEXTS: dict[str, tuple[str, str]] = {
    # outcome
    "failed": ("Failed", "失败"),
    "hung": ("Hung", "挂起"),
    "healthy": ("Healthy", "正常"),
    "recovered": ("Recovered", "已恢复"),
    "unfinished": ("Unfinished", "未结束"),
    "healthy-summary": ("Nothing wrong was found.", "未发现问题。"),
    "recovered-summary": ("Something failed, and the job went on.", "曾出现错误，但作业已继续运行。"),
    "unfinished-summary": (
        "The logs stop without an end, and without an error that is known.",
        "日志没有正常结束就中断了，也没有已知的报错。",
    ),
    "certain": ("certain", "确定"),
    "likely": ("likely", "很可能"),
    "possible": ("possible", "有可能"),
    # who
    "rank": ("rank {n}", "rank {n}"),
    "ranks": ("ranks {ranges}", "rank {ranges}"),
    "many-ranks": ("{n:,} ranks [{ranges}]", "{n:,} 个 rank [{ranges}]"),
    "host": ("host {name}", "主机 {name}"),
    "host-list": ("hosts {names}", "主机 {names}"),
    "local-rank": ("local rank {n}", "local rank {n}"),
    "gpu": ("GPU {n}", "GPU {n}"),
    "pid": ("pid {n}", "pid {n}"),
    # fields
    "cause": ("Cause", "根因"),
    "culprit": ("Culprit", "故障源"),
    "culprits": ("Culprits", "故障源"),
    "nobody": ("no single rank or host is at fault, or none can be told", "没有单个 rank 或主机出错，或无法判断"),
    "nobody-config": ("none: the configuration is at fault, no rank or host", "无：问题在配置，不在任何 rank 或主机"),
    "nobody-software": ("none: what is installed is at fault, no rank or host", "无：问题在所装软件，不在任何 rank 或主机"),
    "nobody-outside": ("none: the job was ended from outside", "无：作业是从外部结束的"),
    "both-alike": ("none: both ranks fail alike", "无：两个 rank 的错误相同"),
    "all-alike": ("none: all {n:,} ranks fail alike", "无：全部 {n:,} 个 rank 的错误相同"),
    "owner": ("Owner", "归属"),
    "restart": ("Restart", "重启"),
    "owner-user code": ("user code", "用户代码"),
    "owner-config": ("configuration", "配置"),
    "owner-platform": ("platform", "平台"),
    "owner-hardware": ("hardware", "硬件"),
    "restart-yes": ("a plain restart helps", "直接重启即可"),
    "restart-maybe-yes": ("a plain restart may help", "直接重启可能有效"),
    "restart-maybe-elsewhere": ("may help on other machines", "换机器重启可能有效"),
    "restart-no": ("a plain restart does not help", "直接重启无效"),
    "restart-elsewhere": ("helps on other machines only", "需换机器重启"),
    "references": ("References", "参考"),
    # sections
    "evidence": ("Evidence", "证据"),
    "more-evidence": ("More evidence", "更多证据"),
    "remedy": ("What to do", "处理办法"),
    "now": ("now", "立即"),
    "fix": ("fix", "修复"),
    "prevent": ("prevent", "预防"),
    "collect": ("collect", "收集"),
    "symptoms": ("Why the louder errors are only symptoms", "其他报错为何只是后果"),
    "alternatives": ("Also considered", "其他可能"),
    "survived": ("Errors that the job survived", "作业挺过的错误"),
    "timeline": ("Timeline", "时间线"),
    "ranks-table": ("Ranks", "各 rank"),
    "collectives": ("Collectives", "集合通信"),
    "stack-of-nobody": ("a process that names no rank", "未注明 rank 的进程"),
    "stacks": ("Where the processes stand", "进程停在何处"),
    "attempts": ("Attempts", "历次尝试"),
    "other-jobs": ("Other jobs among the inputs", "输入中的其他作业"),
    "facts": ("Facts", "事实"),
    "facts-inputs": ("Facts and inputs", "事实与输入"),
    "state-tables": ("Ranks, collectives, stacks", "各 rank、集合通信、调用栈"),
    "notices": ("Worth knowing", "值得注意"),
    "gaps": ("What was missing", "缺少的信息"),
    "inputs": ("Inputs", "输入"),
    "picture": ("Ranks over time", "各 rank 随时间"),
    # the page of a cause
    "page-owner": (
        "Owner: {owner}. Restart: {restart}. At fault can be: {blame}.",
        "归属：{owner}。重启：{restart}。可能的故障源：{blame}。",
    ),
    "page-if": ("  (if {condition})", "  （条件：{condition}）"),
    "page-brings": ("What it brings about: {causes}", "会引发：{causes}"),
    "page-nothing": ("nothing known", "暂无"),
    "page-messages": ("Messages ({n})", "报错（{n} 种）"),
    "page-tables": ("none: found by tables", "无：由表查得"),
    "blame-rank": ("a rank", "某个 rank"),
    "blame-host": ("a host", "某台主机"),
    "blame-shared": ("a rank; no single one where all fail", "某个 rank；若全部失败则不归咎于任何 rank"),
    "blame-common": ("all who run the same", "运行相同内容的所有 rank"),
    "blame-none": ("no rank", "不归咎于任何 rank"),
    # between phrases
    "comma": (", ", "，"),
    "colon": (": ", "："),
    "stop": (". ", "。"),
    "semicolon": ("; ", "；"),
    "space": (" ", ""),
    # states of ranks, verdicts on collectives
    "state-culprit": ("culprit", "故障源"),
    "state-failed": ("failed", "失败"),
    "state-finished": ("finished", "已结束"),
    "state-silent": ("no error", "未报错"),
    "state-terminated": ("terminated", "被终止"),
    "state-waiting": ("waiting", "等待中"),
    "state-alive": ("alive", "存活"),
    "state-differs": ("differs", "不一致"),
    "state-ahead": ("ahead", "超前"),
    "state-behind": ("behind", "落后"),
    "state-no-dump": ("no dump", "无转储"),
    # columns
    "time": ("time", "时间"),
    "who": ("who", "对象"),
    "what": ("what", "事件"),
    "where": ("where", "位置"),
    "layer": ("layer", "层"),
    "state": ("state", "状态"),
    "last-step": ("last step", "最后一步"),
    "last-seen": ("last seen", "最后出现"),
    "hosts": ("hosts", "主机"),
    "group": ("group", "进程组"),
    "operation": ("operation", "操作"),
    "stuck": ("stuck at", "卡在"),
    "enqueued": ("enqueued", "已入队"),
    "completed": ("completed", "已完成"),
    "sizes": ("elements", "元素数"),
    "verdict": ("verdict", "判断"),
    "fact": ("fact", "名称"),
    "value": ("value", "值"),
    "file": ("file", "文件"),
    "size": ("size", "大小"),
    "kind": ("kind", "类型"),
    # sentences
    "times": ("{n:,} times", "{n:,} 次"),
    "at-least-times": ("at least {n:,} times", "至少 {n:,} 次"),
    "explained-by": ("it follows from: {cause}", "由以下情况引起：{cause}"),
    "until": ("(until {time})", "（至 {time}）"),
    "after": ("{delay} after the cause began", "根因开始 {delay} 后"),
    "undated": ("undated", "时间不详"),
    "also-in": ("also in {places}", "亦见于 {places}"),
    "own-code": ("in your own code", "在您自己的代码中"),
    "more": ("… and {n:,} more", "……另有 {n:,} 项"),
    "more-lines": ("… {n:,} lines left out", "……省略 {n:,} 行"),
    "others-differ": ("{who}: {value}", "{who}：{value}"),
    "next-time": ("Next time: {how}", "下次：{how}"),
    "not-read": ("not read: {why}", "未读取：{why}"),
    "read": (
        "Inputs read: {files:,} ({size}); events: {events:,}.",
        "已读取输入 {files:,} 个（{size}），事件 {events:,} 个。",
    ),
    "redacted": ("Replaced before showing: {what}.", "显示前已替换：{what}。"),
    "attempt": ("attempt {n}", "第 {n} 次尝试"),
    "time-basis": ("Times: {basis}.", "时间：{basis}。"),
    "threads": ("{n:,} threads", "{n:,} 个线程"),
    "one-thread": ("1 thread", "1 个线程"),
    "details": ("Details", "详情"),
    # the answers of --why
    "why-nothing": (
        "{cause}: nothing wrong was found ({outcome}), so no cause was weighed.",
        "{cause}：未发现问题（{outcome}），因此没有权衡任何原因。",
    ),
    "why-verdict": ("{cause} is the verdict ({certainty}): {summary}", "{cause} 就是结论（{certainty}）：{summary}"),
    "why-lost": ("{cause} lost against {winner}. {why_not}", "{cause} 不敌 {winner}。{why_not}"),
    "why-symptom": (
        "{cause}: {title}, {n} times: a consequence of {by}.",
        "{cause}：{title}，{n} 次：是 {by} 的后果。",
    ),
    "why-survived": ("{title}: survived, the job went on.", "{title}：作业挺了过去，继续运行。"),
    "why-unsaid": (
        "{cause}: no line of the logs says so, and no comparison of ranks points to it.",
        "{cause}：没有任何日志行这样说，各 rank 的比较也没有指向它。",
    ),
    "why-no-rank": (
        "rank {n}: no line of the logs is known to be its own.",
        "rank {n}：没有任何日志行能确认是它打印的。",
    ),
    "why-rank": ("rank {n}: {state}", "rank {n}：{state}"),
    "why-last-step": ("last step {n}", "最后一步 {n}"),
    "why-told-by": ("told by {how}", "依据：{how}"),
    "from-the message": ("the message", "该行内容"),
    "from-the process id": ("the process id", "进程号"),
    "from-the line's prefix": ("the line's prefix", "行首前缀"),
    "from-the file": ("the file", "所在文件"),
    "from-the file's process id": ("the file's process id", "文件的进程号"),
    "from-the actor": ("the actor", "actor"),
    "from-the engine's label": ("the engine's label", "推理引擎的标签"),
    "from-the controller's header": ("the controller's header", "控制器的标题行"),
    "from-the entry of torchrun's summary": ("the entry of torchrun's summary", "torchrun 汇总中的条目"),
    "from-the only process": ("the only process", "唯一的进程"),
    "from-the local rank on its host": ("the local rank on its host", "所在主机的 local rank"),
    "from-the other local ranks of its host": ("the other local ranks of its host", "所在主机的其他 local rank"),
    "from-the local rank on the only node": ("the local rank on the only node", "唯一节点上的 local rank"),
    "from-the local rank": ("the local rank", "local rank"),
    "from-the GPU's PCI address": ("the GPU's PCI address", "GPU 的 PCI 地址"),
    "from-the GPU index on its host": ("the GPU index on its host", "所在主机的 GPU 编号"),
    "from-the GPU index on the only node": ("the GPU index on the only node", "唯一节点上的 GPU 编号"),
    "from-the task number": ("the task number", "任务编号"),
    "from-the rank in the process group": ("the rank in the process group", "进程组内的 rank"),
    "why-seen": ("seen from {first} to {last}", "出现于 {first} 至 {last}"),
    "why-first-error": ("first error: {cause} at {ref}", "第一个错误：{cause}，见 {ref}"),
    "why-culprit": ("culprit: {why}", "故障源：{why}"),
    "why-stuck": ("stuck in {op} number {seq} of group {group}", "卡在组 {group} 的第 {seq} 个 {op}"),
    "why-a-collective": ("a collective", "集合通信"),
    "why-default-group": ("(default)", "（默认）"),
    "in-brackets": (" ({text})", "（{text}）"),
    # the HTML page
    "filter": ("Filter lines, ranks, hosts, causes", "筛选行、rank、主机、原因"),
    "filter-none": ("Nothing matches.", "没有匹配项。"),
    "picture-help": (
        "Ctrl + wheel or + and − zoom, dragging or arrow keys move, 0 shows the whole job, a click opens folded ranks.",
        "Ctrl + 滚轮或 + / − 缩放，拖动或方向键移动，0 显示整个作业，点击折叠行可展开。",
    ),
    "picture-none": ("No event has a time, so nothing can be drawn.", "没有带时间的事件，无法绘图。"),
    "copy": ("copy", "复制"),
    "copied": ("copied", "已复制"),
    "folded": ("{n:,} ranks", "{n:,} 个 rank"),
    "alive": ("alive", "存活"),
    "other-layer": ("other", "其他"),
    "skip": ("Skip to the verdict", "跳到结论"),
}


def language_of(environment: Mapping[str, str]) -> Language:
    """Yield the language of a locale as POSIX reads it: the first of these variables that says anything counts."""
    named = next((environment[n] for n in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(n)), "")
    return "zh" if named.lower().startswith("zh") else "en"


def choose_language(named: str | None, environment: Mapping[str, str]) -> Language:
    """Yield the language that `--lang` names, or that of the locale. Raises `UsageError`."""
    if named is None:
        return language_of(environment)
    if named not in ("en", "zh"):
        raise UsageError(f"--lang {named}: choose en or zh")
    return "zh" if named == "zh" else "en"


def words(language: str) -> Say:
    """Yield a function from a key, and what its text needs, to the text; an unknown language reads English."""
    column = 1 if language.lower().startswith("zh") else 0

    def say(key: str, **values: object) -> str:
        text = _TEXTS[key][column]
        return text.format(**values) if values else text

    return say


def knows(key: str) -> bool:
    """Whether the frame has words for it."""
    return key in _TEXTS
