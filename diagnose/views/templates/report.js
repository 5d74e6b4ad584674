"use strict";
// The page reads without this script; it adds the picture, the filter, the copy buttons and opens folds for printing.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = data.words;
  const byId = (id) => document.getElementById(id);
  const inRanges = (ranges, rank) => ranges.some(([a, b]) => a <= rank && rank <= b);
  const parse = (text) => (text ? text.split(",").map((part) => { const [a, b] = part.split("-").map(Number); return [a, b ?? a]; }) : []);

  // --- copy -------------------------------------------------------------------------------------------------------
  // The clipboard interface is not there for pages opened from disk.
  function copy(button, text, label) {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "offscreen";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
    button.textContent = words.copied;
    setTimeout(() => { button.textContent = label; }, 1500);
  }
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button, button.parentElement.querySelector("code").textContent, words.copy));
  }
  const whole = byId("copy-markdown");
  whole.hidden = false;
  whole.addEventListener("click", () => copy(whole, data.markdown, words["copy-markdown"]));

  // --- the picture ------------------------------------------------------------------------------------------------
  const TOP = 28, LEAST = 24, OPEN_AT_ONCE = 32, MOST_ROWS = 40, PIECES = 16;
  const NS = "http://www.w3.org/2000/svg";
  const holder = byId("picture"), tip = byId("tip");
  const ranks = data.ranks.map(([rank, host, state, step, first, last, stepTime, guilty]) =>
    ({ rank, host: host < 0 ? "" : data.hosts[host], state, step, first, last, stepTime, guilty: !!guilty }));
  const events = data.events.map((e) => ({ ...e, ranks: parse(e.ranks) }));
  const times = [...events.flatMap((e) => [e.since, e.t, e.until]), ...ranks.flatMap((r) => [r.first, r.last])].filter((t) => t !== null);
  const start = times.reduce((a, b) => Math.min(a, b), Infinity), end = times.reduce((a, b) => Math.max(a, b), -Infinity);
  let from, to, rows, wanted = null, label = 178;

  function make(parent, tag, attributes, text) {
    const element = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  // Neighbours that tell the same share a row; a culprit always has its own, and comes first.
  function fold(list) {
    const runs = [];
    for (const r of list) {
      const run = runs[runs.length - 1];
      if (run && run[0].state === r.state) run.push(r); else runs.push([r]);
    }
    if (runs.length <= MOST_ROWS) return runs;
    const size = Math.ceil(list.length / MOST_ROWS), merged = [];
    for (const run of runs) {
      const last = merged[merged.length - 1];
      if (last && last.length + run.length <= size) last.push(...run); else merged.push([...run]);
    }
    return merged;
  }

  function split(list) {
    const size = Math.max(1, Math.ceil(list.length / (list.length <= OPEN_AT_ONCE ? list.length : PIECES)));
    const pieces = [];
    for (let i = 0; i < list.length; i += size) pieces.push(list.slice(i, i + size));
    return pieces;
  }

  function row(list) {
    const ranges = [];
    for (const { rank } of list) {
      const last = ranges[ranges.length - 1];
      if (last && last[1] === rank - 1) last[1] = rank; else ranges.push([rank, rank]);
    }
    return { list, ranges, guilty: list[0].guilty, host: "" };
  }

  function reset() {
    const guilty = ranks.filter((r) => r.guilty), others = ranks.filter((r) => !r.guilty);
    const first = guilty.length <= MOST_ROWS ? guilty.map((r) => [r]) : fold(guilty);
    rows = [...first, ...(ranks.length <= OPEN_AT_ONCE ? others.map((r) => [r]) : fold(others))].map(row);
    const hosts = [...new Set(events.filter((e) => !e.ranks.length && e.host).map((e) => e.host))].sort();
    for (const host of hosts.slice(0, MOST_ROWS)) rows.push({ list: [], ranges: [], guilty: false, host });
  }

  // The failure, with a little of what was before and after: a job may have run for days, and a teardown takes minutes.
  function story() {
    const told = events.filter((e) => !e.old && (e.kind === "root" || e.kind === "error"));
    const marks = told.flatMap((e) => [e.since ?? e.t, e.t]);
    const steps = ranks.filter((r) => r.guilty && r.stepTime !== null).map((r) => r.stepTime);
    if (!marks.length) return everything();
    const last = marks.reduce((a, b) => Math.max(a, b));
    const first = Math.min(marks.reduce((a, b) => Math.min(a, b)), ...steps.filter((t) => last - t < 4 * 3600));
    const span = Math.max(last - first, 30); // of one moment alone nothing could be seen
    from = Math.max(first - span * (last - first < 30 ? 0.7 : 0.08), start - span * 0.02);
    to = Math.min(last + span * (last - first < 30 ? 0.4 : 0.12), end + span * 0.12);
  }

  function everything() {
    const span = Math.max(end - start, 1);
    from = start - span * 0.02;
    to = end + span * 0.04;
  }

  const ranges = (r) => r.ranges.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(",");
  const short = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);
  const name = (r) => r.host && !r.list.length ? words.host.replace("{name}", r.host)
    : r.list.length === 1 ? words.rank.replace("{n}", r.list[0].rank)
    : label < 100 || ranges(r).length > 10 ? count(r) : words.ranks.replace("{ranges}", ranges(r));
  const count = (r) => r.list.length > 1 ? words.folded.replace("{n:,}", r.list.length.toLocaleString("en")) : r.list.length ? r.list[0].host : "";
  const height = (r) => LEAST + (r.list.length > 1 ? Math.min(20, 4 * Math.log2(r.list.length)) : 0);
  const clock = (t) => new Date(t * 1000).toISOString().slice(11, to - from < 5 ? 23 : 19);
  const lasting = (s) => (s >= 7200 ? `${+(s / 3600).toFixed(1)} h` : `${Math.round(s)} s`);
  const states = (list) => {
    const counts = new Map();
    for (const r of list) if (r.state) counts.set(r.state, (counts.get(r.state) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([state, n]) => `${list.length > 1 ? `${n} ` : ""}${words[state] ?? state}`).join(", ");
  };

  function draw() {
    const width = Math.max(holder.clientWidth, 300), right = width - 12;
    label = width < 640 ? 98 : 190;
    const x = (t) => label + ((t - from) / (to - from)) * (right - label);
    const total = TOP + rows.reduce((sum, r) => sum + height(r) + 4, 0) + 8;
    const focused = document.activeElement?.dataset?.row;
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${total}`);
    svg.setAttribute("height", total);
    const defs = make(svg, "defs", {});
    const hatch = make(defs, "pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    make(hatch, "rect", { class: "hatch-ground", width: 6, height: 6 });
    make(hatch, "rect", { class: "hatch-line", width: 2.2, height: 6 });
    axis(svg, x, right, total);
    make(make(defs, "clipPath", { id: "plot" }), "rect", { x: label, y: 0, width: right - label + 8, height: total });
    let y = TOP;
    rows.forEach((r, i) => { drawRow(svg, r, i, x, y, width); y += height(r) + 4; });
    holder.replaceChildren(svg);
    if (focused !== undefined) holder.querySelector(`[data-row="${focused}"]`)?.focus();
  }

  function axis(svg, x, right, total) {
    const span = to - from;
    const steps = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800];
    const step = steps.find((s) => span / s <= Math.max(2, (right - label) / 110)) ?? span / 6;
    for (let t = Math.ceil(from / step) * step; t < to; t += step) {
      make(svg, "line", { class: "axis", x1: x(t), x2: x(t), y1: TOP - 6, y2: total });
      if (x(t) < right - 26) make(svg, "text", { class: "soft", x: x(t), y: 16, "text-anchor": "middle" }, clock(t));
    }
    if (label > 100) make(svg, "text", { class: "soft", x: 12, y: 16 }, new Date(from * 1000).toISOString().slice(0, 10));
  }

  const isMine = (r, e) => r.list.length ? e.ranks.some(([a, b]) => r.ranges.some(([c, d]) => a <= d && c <= b)) : !e.ranks.length && e.host === r.host;
  const share = (r, e) => r.list.length < 2 ? 1
    : e.ranks.reduce((sum, [a, b]) => sum + r.ranges.reduce((s, [c, d]) => s + Math.max(0, Math.min(b, d) - Math.max(a, c) + 1), 0), 0) / r.list.length;

  function drawRow(svg, r, index, x, y, width) {
    const h = height(r), middle = y + h / 2, many = r.list.length > 1;
    const mine = events.filter((e) => isMine(r, e));
    const all = many ? words.ranks.replace("{ranges}", ranges(r)) : "";
    const what = [...new Set([name(r), all, count(r), states(r.list)])].filter(Boolean).join(", ");
    const g = make(svg, "g", { class: many ? "open" : "", role: many ? "button" : "img", "aria-label": what, "data-row": index });
    if (many) g.setAttribute("tabindex", "0");
    if (r.guilty) make(g, "rect", { class: "wash", x: 0, y, width, height: h });
    make(g, "rect", { class: "row", x: 2, y, width: width - 4, height: h, rx: 4 });
    const shown = `${r.guilty ? "▶ " : many ? "▸ " : ""}${name(r)}`;
    make(g, "text", { class: r.guilty ? "guilty" : "", x: 8, y: middle + 4 }, short(shown, label < 100 ? 13 : 22));
    const note = count(r), room = Math.floor((label - 24 - 7.2 * shown.length) / 6.6); // a long name of a host would run into it
    if (room > (many ? note.length : 3) && note !== name(r)) make(g, "text", { class: "soft", x: label - 10, y: middle + 4, "text-anchor": "end" }, note.length > room ? `…${note.slice(1 - room)}` : note);
    const plot = make(g, "g", { "clip-path": "url(#plot)" });
    life(plot, r, mine, x, y + 4, h - 8);
    for (const e of mine) if (e.since !== null || e.kind === "phase") span(plot, r, e, x, y + 4, h - 8);
    const order = { note: 0, teardown: 1, error: 2, root: 3 };
    for (const e of mine.filter((e) => e.kind !== "phase").sort((a, b) => order[a.kind] - order[b.kind])) mark(plot, r, e, x, y, h);
    if (r.guilty) call(plot, mine.find((e) => e.kind === "root"), x, middle);
    if (wanted && !wanted(r, mine)) g.classList.add("dim");
    g.addEventListener("pointermove", (event) => show(event, what, r));
    g.addEventListener("pointerleave", hide);
    if (many) {
      g.addEventListener("click", () => { if (!dragged) open(index); });
      g.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(index); } });
    }
  }

  // From the first sign of life to the last, or to where a wait begins; then silence, which is evidence.
  function life(g, r, mine, x, y, h) {
    const first = r.list.map((m) => m.first).filter((t) => t !== null), last = r.list.map((m) => m.last).filter((t) => t !== null);
    const begun = mine.find((e) => e.kind === "root");
    if (!last.length && r.guilty && begun) make(g, "line", { class: "quiet", x1: x(begun.t), x2: x(end), y1: y + h / 2, y2: y + h / 2 });
    if (!last.length) return;
    const waits = mine.filter((e) => e.since !== null && !e.old).map((e) => e.since);
    const a = first.length ? Math.min(...first) : start, b = Math.max(a, Math.min(Math.max(...last), ...waits));
    make(g, "rect", { class: "life", x: x(a), y: y + h / 4, width: Math.max(x(b) - x(a), 2), height: h / 2, rx: 2 });
    if (r.guilty && !waits.length && b < end - (end - start) * 0.002) make(g, "line", { class: "quiet", x1: x(b), x2: x(end), y1: y + h / 2, y2: y + h / 2 });
    const step = Math.max(...r.list.map((m) => m.stepTime ?? -Infinity));
    if (Number.isFinite(step)) make(g, "rect", { class: "step", x: x(step) - 1.5, y, width: 3, height: h });
  }

  function span(g, r, e, x, y, h) {
    const waits = e.kind !== "phase";
    const a = x(waits ? e.since : e.t), b = x(waits ? e.t : e.until ?? Math.max(e.t, ...r.list.map((m) => m.last ?? e.t)));
    const tall = Math.max(4, h * share(r, e));
    const box = make(g, "rect", { class: waits ? "wait" : "phase", x: a, y: y + (h - tall) / 2, width: Math.max(b - a, 2), height: tall, rx: 2 });
    listenOn(box, e);
    const left = Math.max(a, label), room = Math.min(b, holder.clientWidth) - left;
    const seconds = waits ? e.t - e.since : e.until === null ? 0 : e.until - e.t;
    const text = `${waits ? words["legend-waiting"] : e.text}${seconds ? ` ${lasting(seconds)}` : ""}`;
    if (room > 7 * text.length) make(g, "text", { class: "inside", x: left + room / 2, y: y + h / 2 + 4, "text-anchor": "middle" }, text);
  }

  function mark(g, r, e, x, y, h) {
    const cx = x(e.t), cy = y + h / 2, tall = Math.max(6, (h - 8) * share(r, e));
    const made = e.kind === "root" ? make(g, "path", { class: "root", d: `M${cx} ${cy - 8}l8 8l-8 8l-8 -8z` })
      : e.kind === "note" ? make(g, "circle", { class: "note", cx, cy, r: 3 })
      : make(g, "rect", { class: e.kind, x: cx - 2.5, y: cy - tall / 2, width: 5, height: tall, rx: 1.5 });
    listenOn(made, e);
  }

  function call(g, e, x, middle) {
    if (!e) return;
    const cx = x(e.t), before = cx > label + (holder.clientWidth - label) * 0.55;
    const room = Math.floor(((before ? cx - label : holder.clientWidth - cx) - 24) / 6.6);
    if (room > 8) make(g, "text", { class: "guilty call", x: before ? cx - 14 : cx + 14, y: middle + 4, "text-anchor": before ? "end" : "start" }, short(e.text, Math.min(room, 60)));
  }

  function listenOn(element, e) {
    element.addEventListener("pointermove", (event) => { event.stopPropagation(); show(event, tell(e), null); });
    element.addEventListener("click", (event) => { if (e.n && !dragged) { event.stopPropagation(); location.hash = `e${e.n}`; } });
  }

  function tell(e) {
    const wait = e.since !== null ? `\n${words["legend-waiting"]} ${lasting(e.t - e.since)}` : "";
    return `${clock(e.t)}  ${e.text}${wait}${e.ref ? `\n${e.ref}` : ""}`;
  }

  function show(event, text, r) {
    const steps = r ? r.list.map((m) => m.step).filter((s) => s >= 0) : [];
    const least = steps.reduce((a, b) => Math.min(a, b), Infinity), most = steps.reduce((a, b) => Math.max(a, b), -Infinity);
    tip.textContent = text + (steps.length ? `\n${words["last-step"]} ${least === most ? least : `${least}–${most}`}` : "");
    tip.hidden = false;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(8, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8))}px`;
  }
  const hide = () => { tip.hidden = true; };

  function open(index) {
    rows.splice(index, 1, ...split(rows[index].list).map(row));
    hide();
    draw();
  }

  function zoom(factor, middle = (from + to) / 2) {
    const least = 0.01, most = (end - start) * 4 + 4;
    const next = (to - from) * factor;
    if (next < least || next > most) return;
    from = middle - (middle - from) * factor;
    to = from + next;
    draw();
  }
  const move = (part) => { const by = (to - from) * part; from += by; to += by; draw(); };
  const timeAt = (clientX) => { const box = holder.getBoundingClientRect(); return from + ((clientX - box.left - label) / (box.width - label - 12)) * (to - from); };

  let dragged = false;
  const fingers = new Map();
  function listen() {
    const actions = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), all: () => { everything(); reset(); draw(); }, story: () => { story(); reset(); draw(); } };
    for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
    const keys = { "+": actions.in, "=": actions.in, "-": actions.out, 0: actions.all, s: actions.story, ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15) };
    holder.addEventListener("keydown", (event) => { if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); } });
    holder.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !holder.contains(document.activeElement)) return; // scrolling the page stays scrolling
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.clientX));
    }, { passive: false });
    holder.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event.clientX); if (fingers.size === 1) dragged = false; });
    addEventListener("pointermove", (event) => {
      const was = fingers.get(event.pointerId);
      if (was === undefined || (!dragged && Math.abs(event.clientX - was) < 4)) return;
      dragged = true;
      const other = [...fingers].find(([id]) => id !== event.pointerId);
      fingers.set(event.pointerId, event.clientX);
      if (other) { // two fingers: what is between them grows with their distance
        const before = Math.abs(was - other[1]), now = Math.abs(event.clientX - other[1]);
        if (before > 8 && now > 8) zoom(before / now, timeAt((event.clientX + other[1]) / 2));
      } else move((was - event.clientX) / (holder.clientWidth - label - 12));
    });
    const release = (event) => { fingers.delete(event.pointerId); setTimeout(() => { dragged = false; }); };
    addEventListener("pointerup", release);
    addEventListener("pointercancel", release);
    new ResizeObserver(draw).observe(holder);
  }

  function legend() {
    const has = (test) => events.some(test);
    const used = [["running", ranks.some((r) => r.last !== null)], ["step", ranks.some((r) => r.stepTime !== null)], ["phase", has((e) => e.kind === "phase")],
      ["waiting", has((e) => e.since !== null)], ["root", has((e) => e.kind === "root")], ["error", has((e) => e.kind === "error")], ["teardown", has((e) => e.kind === "teardown")]];
    for (const [kind] of used.filter(([, is]) => is)) {
      const item = document.createElement("span"), key = document.createElement("span");
      key.className = `key ${kind}`;
      item.append(key, words[`legend-${kind}`]);
      byId("legend").append(item);
    }
  }

  if (times.length && (ranks.length || events.length)) {
    document.querySelector(".picture").hidden = false;
    document.querySelector('nav [href="#picture-title"]').hidden = false;
    reset();
    story();
    legend();
    listen();
    draw();
  }

  // --- the filter -------------------------------------------------------------------------------------------------
  const box = byId("filter"), found = byId("found");
  const entries = [...document.querySelectorAll("[data-find]")].map((element) => ({ element, text: element.textContent.toLowerCase() }));
  const RANKS = /ranks? \[?(\d[\d,-]*)/g; // "ranks 0-1,3", "47 ranks [0-30,32-47]", "47 个 rank [0-30]"
  const mentions = (text, rank) => [...text.matchAll(RANKS)].some((m) => inRanges(parse(m[1].replace(/,+$/, "")), rank));

  function filter() {
    const query = box.value.trim().toLowerCase();
    const asked = /^rank\s*(\d+)$/.exec(query);
    const rank = asked ? Number(asked[1]) : -1;
    let shown = 0;
    for (const { element, text } of entries) {
      const hit = !query || (asked ? mentions(text, rank) : text.includes(query));
      element.classList.toggle("gone", !hit);
      shown += hit ? 1 : 0;
    }
    const said = (list) => list.some((e) => `${e.text} ${e.layer} ${e.ref} ${e.host}`.toLowerCase().includes(query));
    wanted = !query ? null : asked ? (r) => inRanges(r.ranges, rank) : (r, mine) => said(mine) || r.list.some((m) => m.host.toLowerCase().includes(query) || m.state === query);
    found.textContent = query ? (shown ? String(shown) : found.dataset.none) : "";
    if (rows) draw();
  }
  box.addEventListener("input", filter);

  addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
})();
