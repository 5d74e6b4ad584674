"""The HTML page: one file that stands alone, and in a real browser loads clean, draws, filters and runs no log line."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.advice.statement import Evidence, Span
from diagnose.report.parts import Diagnosis, RankRow, StackGroup, Symptom, TimelineEntry
from diagnose.report.report import Report, from_dict, to_json
from diagnose.views.rendering import render

from .browser import Browser, find_chromium
from .report_samples import all_samples, cuda_oom, straggler

HOSTILE = "</script></style></pre><img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>'\"{{7*7}}"
HOSTILE_REPORT = Report(
    outcome="failed",
    diagnosis=Diagnosis(
        title=HOSTILE,
        summary=HOSTILE,
        evidence=(Evidence(file=HOSTILE, text=HOSTILE, host=HOSTILE, before=(HOSTILE,), spans=(Span(3, 9, HOSTILE),)),),
    ),
    symptoms=(Symptom(title=HOSTILE, first=Evidence(text=HOSTILE)),),
    timeline=(TimelineEntry("2024-05-14T10:12:03Z", (0,), HOSTILE, HOSTILE, HOSTILE, None, HOSTILE, HOSTILE),),
    ranks=(RankRow(0, HOSTILE, state=HOSTILE),),
    stacks=(StackGroup((0,), (HOSTILE,), 1),),
)


class Nodes(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))


def nodes(page: str):
    return Nodes(page).elements


@pytest.mark.parametrize("name", all_samples())
def test_the_page_names_nothing_outside_itself(name):
    page = render(all_samples()[name], "html")
    assert not re.search(r"<(?:link|img|iframe|object|embed|base)\b|@import|url\((?!#)|\bsrc=|fetch\(|XMLHttpRequest", page)


def test_the_page_says_verdict_culprit_and_proof():
    page = render(cuda_oom(), "html")
    for word in ("CUDA out of memory", "rank 2, host gpu-node-07, GPU 2", "logs/rank2.log:4031", "<mark>1.06 GiB</mark>"):
        assert word in page


def test_a_chinese_page_says_so():
    page = render(replace(cuda_oom(), language="zh"), "html")
    assert 'lang="zh-Hans"' in page
    assert "立即处理" in page


def test_four_thousand_ranks_stay_a_small_page():
    assert len(render(straggler(4096), "html")) < 600_000


def test_hostile_text_makes_no_element():
    assert nodes(render(harmless(HOSTILE_REPORT), "html")) == nodes(render(HOSTILE_REPORT, "html"))


def harmless(report: Report, word: str = "harmless words") -> Report:
    """The same report with one word for every text."""
    text = json.dumps(_replaced(report, word))
    assert HOSTILE not in text
    return from_dict(json.loads(text))


def _replaced(report: Report, word: str):
    def walk(value):
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        return word if value == HOSTILE else value

    return walk(to_json(report))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80) | st.text("<>&\"'/!-=;{}%#`script", max_size=80))
def test_no_text_breaks_out_of_its_node(text):
    def page_of(word: str) -> str:
        found = Diagnosis(title="t", summary="s" + word, evidence=(Evidence(file="f" + word, line=1, text="e" + word, spans=(Span(0, 1, "x"),)),))
        events = (TimelineEntry("2024-05-14T10:12:03Z", (0,), None, "gpu", None, None, "x" + word, "r" + word),)
        return render(Report(outcome="failed", diagnosis=found, timeline=events), "html")

    assert nodes(page_of("")) == nodes(page_of(text.replace("\n", " ")))


@pytest.fixture(scope="module")
def browser():
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    browser = Browser(program)
    yield browser
    browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    def open_page(report: Report, **how) -> Browser:
        path = tmp_path / "report.html"
        path.write_text(render(report, "html", **how), encoding="utf-8")
        browser.open(path)
        return browser

    return open_page


@pytest.mark.parametrize("name", all_samples())
def test_the_page_loads_without_a_word_in_the_console_and_asks_for_nothing(opened, name):
    page = opened(all_samples()[name])
    assert page.evaluate("document.querySelector('h1').textContent.length > 0")
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:///") or not url.endswith("report.html")] == []


def test_eight_ranks_are_eight_rows_with_the_culprit_marked(opened):
    page = opened(cuda_oom())
    assert page.evaluate("document.querySelectorAll('#picture [data-row]').length") == 8
    assert page.evaluate("document.querySelector('#picture text.guilty').textContent") == "▶ rank 2"
    assert page.evaluate("[...document.querySelectorAll('#picture .call')].map(t => t.textContent).join()").startswith("CUDA out")


def test_a_thousand_ranks_fold_into_two_rows_with_the_culprit_first(opened):
    page = opened(straggler())
    rows = "[...document.querySelectorAll('#picture [data-row]')].map(g => g.getAttribute('aria-label'))"
    assert page.evaluate(rows) == ["rank 517, node-064, no error", "1,023 ranks, ranks 0–516,518–1023, 1023 waiting"]
    page.evaluate("document.querySelectorAll('#picture [data-row]')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert page.evaluate("document.querySelectorAll('#picture [data-row]').length") == 17
    page.evaluate("document.querySelector('[data-do=all]').click()")
    assert page.evaluate("document.querySelectorAll('#picture [data-row]').length") == 2
    assert page.complaints == []


def visible(page: Browser) -> int:
    return page.evaluate("[...document.querySelectorAll('[data-find]')].filter(e => !e.classList.contains('gone')).length")


def filter_by(page: Browser, text: str) -> None:
    page.evaluate(f"(b => {{ b.value = {json.dumps(text)}; b.dispatchEvent(new Event('input')); }})(document.getElementById('filter'))")


def test_the_filter_hides_what_does_not_match(opened):
    page = opened(cuda_oom())
    everything = visible(page)
    filter_by(page, "watchdog")
    assert 0 < visible(page) < everything
    filter_by(page, "no such words")
    assert (visible(page), page.evaluate("document.getElementById('found').textContent")) == (0, "Nothing matches.")
    filter_by(page, "")
    assert everything == visible(page)


def test_a_hostile_log_line_does_not_become_markup(opened):
    page = opened(HOSTILE_REPORT)
    filter_by(page, "script")
    page.evaluate("document.querySelectorAll('#picture *').forEach(e => e.dispatchEvent(new PointerEvent('pointermove', {bubbles: true})))")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.evaluate("document.scripts.length") == 2
    assert page.complaints == []


def test_every_control_has_a_name(opened):
    page = opened(cuda_oom())
    nameless = "[...document.querySelectorAll('button, input, [tabindex=\"0\"]')].filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.labels?.length)).map(e => e.outerHTML)"
    assert page.evaluate(nameless) == []


def test_what_to_do_now_is_in_the_head_and_only_there(opened):
    page = opened(cuda_oom())
    now = cuda_oom().diagnosis.remedy[0].text.replace("`", "")
    assert page.evaluate(f"document.querySelector('header').innerText.includes({json.dumps(now)})")
    assert not page.evaluate(f"document.querySelector('main').innerText.includes({json.dumps(now)})")


@pytest.mark.parametrize("ranks", [8, 64, 1000])
def test_the_page_fits_a_phone(opened, browser, ranks):
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    page = opened(straggler(ranks, 5))
    width = page.evaluate("document.documentElement.scrollWidth")
    clipped = page.evaluate("[...document.querySelectorAll('td, pre, h1')].filter(e => e.scrollWidth > e.clientWidth + 1).length")
    browser.call("Emulation.clearDeviceMetricsOverride")
    assert (width, clipped) == (390, 0)


CONTRAST = """(() => {
  const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
  const words = [...document.querySelectorAll("main *, header *")].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && e.getClientRects().length && !e.closest("svg"));
  return [...new Set(words.map((e) => { const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x); return [(a + 0.05) / (b + 0.05), e.className || e.tagName]; }).filter(([c]) => c < 4.5).map(String))];
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_of_aa(opened, scheme):
    page = opened(cuda_oom())
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    weak = page.evaluate(CONTRAST)
    page.call("Emulation.setEmulatedMedia", features=[])
    assert weak == []
