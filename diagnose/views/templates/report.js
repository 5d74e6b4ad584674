"use strict";
// The page reads without this script; it adds the picture, the filter, the copy buttons and opens folds for printing.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = data.words;
  const byId = (id) => document.getElementById(id);
  const LAYERS = new Set("memory gpu collective nccl network rendezvous config process data storage ray software numerics hub".split(" "));
  const colour = (layer) => `var(--l-${LAYERS.has(layer) ? layer : "other"})`;
  const inRanges = (ranges, rank) => ranges.some(([a, b]) => a <= rank && rank <= b);
  const parse = (text) => (text ? text.split(",").map((part) => { const [a, b] = part.split("-").map(Number); return [a, b ?? a]; }) : []);

  for (const dot of document.querySelectorAll(".dot")) dot.style.background = colour(dot.dataset.layer);

  // --- copy -------------------------------------------------------------------------------------------------------
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const range = document.createRange();
      range.selectNodeContents(button.parentElement.querySelector("code"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy"); // the clipboard interface is not there for pages opened from disk
      button.textContent = words.copied;
      setTimeout(() => { button.textContent = words.copy; }, 1500);
    });
  }

  // --- the picture ------------------------------------------------------------------------------------------------
  const LABEL = 178, TOP = 28, LEAST = 22, OPEN_AT_ONCE = 32, MOST_ROWS = 40, PIECES = 16, BIN = 4;
  const NS = "http://www.w3.org/2000/svg";
  const holder = byId("picture"), tip = byId("tip");
  const ranks = data.ranks.map(([rank, host, state, step, first, last, guilty]) =>
    ({ rank, host: host < 0 ? "" : data.hosts[host], state, step, first, last, guilty: !!guilty }));
  const events = data.events.map((e) => ({ ...e, ranks: parse(e.ranks) }));
  const times = [...events.map((e) => e.t), ...ranks.flatMap((r) => [r.first, r.last])].filter((t) => t !== null);
  const start = times.reduce((a, b) => Math.min(a, b), Infinity), end = times.reduce((a, b) => Math.max(a, b), -Infinity);
  let from, to, rows, wanted = null;

  function make(parent, tag, attributes, text) {
    const element = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  // Neighbours that tell the same share a row; a culprit always has its own.
  function fold(list) {
    const runs = [];
    const kind = (r) => (r.guilty ? `!${r.rank}` : r.state);
    for (const r of list) {
      const run = runs[runs.length - 1];
      if (run && kind(run[0]) === kind(r)) run.push(r); else runs.push([r]);
    }
    if (runs.length <= MOST_ROWS) return runs;
    const size = Math.ceil(list.length / MOST_ROWS), merged = [];
    for (const run of runs) {
      const last = merged[merged.length - 1];
      if (last && !last[0].guilty && !run[0].guilty && last.length + run.length <= size) last.push(...run); else merged.push([...run]);
    }
    return merged;
  }

  function split(list) {
    const size = Math.max(1, Math.ceil(list.length / (list.length <= OPEN_AT_ONCE ? list.length : PIECES)));
    const pieces = [];
    for (let i = 0; i < list.length; i += size) pieces.push(list.slice(i, i + size));
    return pieces;
  }

  const row = (list) => ({ list, ranges: [[list[0].rank, list[list.length - 1].rank]], guilty: list[0].guilty, host: "" });

  function reset() {
    rows = (ranks.length <= OPEN_AT_ONCE ? ranks.map((r) => [r]) : fold(ranks)).map(row);
    const hosts = [...new Set(events.filter((e) => !e.ranks.length && e.host).map((e) => e.host))].sort();
    for (const host of hosts.slice(0, MOST_ROWS)) rows.push({ list: [], ranges: [], guilty: false, host });
  }

  // What happened, with a little of what was before: a job may have run for days.
  function focus() {
    const failing = events.filter((e) => e.layer).map((e) => e.t);
    const first = failing.length ? failing.reduce((a, b) => Math.min(a, b)) : start;
    const span = Math.max(end - first, 1);
    from = Math.max(start, first - span * 0.25) - span * 0.02;
    to = end + span * 0.06;
  }

  function everything() {
    const span = Math.max(end - start, 1);
    from = start - span * 0.02;
    to = end + span * 0.04;
  }

  const name = (r) => r.host && !r.list.length ? `${words.host.replace("{name}", r.host)}`
    : r.list.length === 1 ? words.rank.replace("{n}", r.list[0].rank) : `${r.list[0].rank}–${r.list[r.list.length - 1].rank}`;
  const count = (r) => r.list.length > 1 ? words.folded.replace("{n:,}", r.list.length.toLocaleString("en")) : r.list.length ? r.list[0].host : "";
  const height = (r) => LEAST + (r.list.length > 1 ? Math.min(34, 7 * Math.log2(r.list.length)) : 0);
  const clock = (t) => new Date(t * 1000).toISOString().slice(11, to - from < 5 ? 23 : 19);
  const states = (list) => {
    const counts = new Map();
    for (const r of list) if (r.state) counts.set(r.state, (counts.get(r.state) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([state, n]) => (list.length > 1 ? `${n} ${state}` : state)).join(", ");
  };

  function draw() {
    const width = Math.max(holder.clientWidth, 480), right = width - 16;
    const x = (t) => LABEL + ((t - from) / (to - from)) * (right - LABEL);
    const total = TOP + rows.reduce((sum, r) => sum + height(r) + 4, 0) + 8;
    const focused = document.activeElement?.dataset?.row;
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${total}`);
    svg.setAttribute("height", total);
    axis(svg, x, right, total);
    const clipPath = make(make(svg, "defs", {}), "clipPath", { id: "plot" });
    make(clipPath, "rect", { x: LABEL, y: 0, width: right - LABEL + 8, height: total });
    let y = TOP;
    rows.forEach((r, i) => { drawRow(svg, r, i, x, y, right, width); y += height(r) + 4; });
    holder.replaceChildren(svg);
    if (focused !== undefined) holder.querySelector(`[data-row="${focused}"]`)?.focus();
  }

  function axis(svg, x, right, total) {
    const span = to - from;
    const steps = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800];
    const step = steps.find((s) => span / s <= Math.max(3, (right - LABEL) / 110)) ?? span / 6;
    for (let t = Math.ceil(from / step) * step; t < to; t += step) {
      make(svg, "line", { class: "axis", x1: x(t), x2: x(t), y1: TOP - 6, y2: total });
      make(svg, "text", { class: "soft", x: x(t), y: 16, "text-anchor": "middle" }, clock(t));
    }
    make(svg, "text", { class: "soft", x: 12, y: 16 }, new Date(from * 1000).toISOString().slice(0, 10));
  }

  function drawRow(svg, r, index, x, y, right, width) {
    const h = height(r), middle = y + h / 2, many = r.list.length > 1;
    const mine = events.filter((e) => r.list.length ? e.ranks.some(([a, b]) => r.ranges.some(([c, d]) => a <= d && c <= b)) : !e.ranks.length && e.host === r.host);
    const what = `${name(r)}, ${[count(r), states(r.list)].filter(Boolean).join(", ")}`;
    const g = make(svg, "g", { class: many ? "open" : "", role: many ? "button" : "img", "aria-label": what, "data-row": index });
    if (many) g.setAttribute("tabindex", "0");
    if (r.guilty) make(g, "rect", { class: "wash", x: 0, y, width, height: h });
    make(g, "rect", { class: "row", x: 2, y, width: width - 4, height: h, rx: 4 });
    const label = `${r.guilty ? "▶ " : many ? "▸ " : ""}${name(r)}`;
    make(g, "text", { class: r.guilty ? "guilty" : "", x: 12, y: middle + 4 }, label);
    const note = count(r), room = Math.max(6, Math.floor((LABEL - 30 - 8 * label.length) / 6.6));  // a long name of a host would run into it
    make(g, "text", { class: "soft", x: LABEL - 12, y: middle + 4, "text-anchor": "end" }, note.length > room ? `…${note.slice(1 - room)}` : note);
    const plot = make(g, "g", { "clip-path": "url(#plot)" });
    life(plot, r, x, middle, many ? h - 6 : 6);
    (many ? bars : dots)(plot, r, mine, x, y, h);
    if (wanted && !wanted(r, mine)) g.classList.add("dim");
    g.addEventListener("pointermove", (event) => show(event, what, r));
    g.addEventListener("pointerleave", hide);
    if (many) {
      g.addEventListener("click", () => { if (!dragged) open(index); });
      g.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(index); } });
    }
  }

  // From the first sign of life to the last; what follows is silence, which is evidence.
  function life(g, r, x, y, thickness) {
    const first = r.list.map((m) => m.first).filter((t) => t !== null), last = r.list.map((m) => m.last).filter((t) => t !== null);
    if (!last.length) return;
    const a = first.length ? Math.min(...first) : start, b = Math.max(...last);
    make(g, "line", { class: r.list.length > 1 ? "life many" : "life", x1: x(a), x2: Math.max(x(b), x(a) + 2), y1: y, y2: y, "stroke-width": thickness });
    if (r.guilty && b < end - (end - start) * 0.002) make(g, "line", { class: "quiet", x1: x(b), x2: x(end), y1: y, y2: y });
  }

  function dots(g, r, mine, x, y, h) {
    const named = r.guilty && mine.find((e) => e.root);
    for (const e of [...mine].sort((a, b) => (a === named) - (b === named))) {
      const cx = x(e.t), cy = y + h / 2;
      const dot = make(g, "circle", { cx, cy, r: e.layer ? 5.5 : 3.5, fill: e.layer ? colour(e.layer) : "var(--soft)" });
      dot.addEventListener("pointermove", (event) => { event.stopPropagation(); show(event, tell([e]), null); });
      if (e === named) {
        make(g, "circle", { class: "ring", cx, cy, r: 9 });
        const text = e.text.length > 60 ? `${e.text.slice(0, 59)}…` : e.text;
        const before = cx > LABEL + (holder.clientWidth - LABEL) * 0.6;
        make(g, "text", { class: "guilty call", x: before ? cx - 14 : cx + 14, y: cy + 4, "text-anchor": before ? "end" : "start" }, text);
      }
    }
  }

  // Many ranks: the share of them that reported, per few pixels and layer.
  function bars(g, r, mine, x, y, h) {
    const bins = new Map();
    for (const e of mine) {
      const key = `${Math.round(x(e.t) / BIN)} ${e.layer}`;
      const bin = bins.get(key) ?? { x: Math.round(x(e.t) / BIN) * BIN, layer: e.layer, n: 0, events: [] };
      bin.n += e.ranks.reduce((sum, [a, b]) => sum + r.ranges.reduce((s, [c, d]) => s + Math.max(0, Math.min(b, d) - Math.max(a, c) + 1), 0), 0);
      bin.events.push(e);
      bins.set(key, bin);
    }
    for (const bin of bins.values()) {
      const tall = Math.max(5, Math.min(1, bin.n / r.list.length) * (h - 4));
      const bar = make(g, "rect", { x: bin.x - 2, y: y + h - 2 - tall, width: BIN, height: tall, rx: 1, fill: bin.layer ? colour(bin.layer) : "var(--soft)" });
      bar.addEventListener("pointermove", (event) => { event.stopPropagation(); show(event, tell(bin.events, bin.n), null); });
    }
  }

  function tell(list, n) {
    const lines = list.slice(0, 6).map((e) => `${clock(e.t)}  ${e.text}${e.ref ? `\n${e.ref}` : ""}`);
    if (list.length > 6) lines.push("…");
    if (n > 1) lines.unshift(words.folded.replace("{n:,}", n.toLocaleString("en")));
    return lines.join("\n");
  }

  function show(event, text, r) {
    const steps = r ? r.list.map((m) => m.step).filter((s) => s >= 0) : [];
    const range = steps.length ? [Math.min(...steps), Math.max(...steps)] : [];
    tip.textContent = text + (range.length ? `\n${words["last-step"]} ${range[0] === range[1] ? range[0] : range.join("–")}` : "");
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
  const move = (share) => { const by = (to - from) * share; from += by; to += by; draw(); };
  const all = () => { everything(); reset(); draw(); };

  let grabbed = null, dragged = false;
  function listen() {
    const actions = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), all };
    for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
    const keys = { "+": actions.in, "=": actions.in, "-": actions.out, 0: all, ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15) };
    holder.addEventListener("keydown", (event) => { if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); } });
    holder.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !holder.contains(document.activeElement)) return; // scrolling the page stays scrolling
      event.preventDefault();
      const box = holder.getBoundingClientRect();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, from + ((event.clientX - box.left - LABEL) / (box.width - LABEL - 16)) * (to - from));
    }, { passive: false });
    holder.addEventListener("pointerdown", (event) => { grabbed = { x: event.clientX, from, to }; dragged = false; });
    addEventListener("pointermove", (event) => {
      if (!grabbed || Math.abs(event.clientX - grabbed.x) < 4) return;
      dragged = true;
      const by = ((grabbed.x - event.clientX) / (holder.clientWidth - LABEL - 16)) * (grabbed.to - grabbed.from);
      from = grabbed.from + by;
      to = grabbed.to + by;
      draw();
    });
    addEventListener("pointerup", () => { grabbed = null; setTimeout(() => { dragged = false; }); });
    new ResizeObserver(draw).observe(holder);
  }

  function legend() {
    const used = [...new Set(events.map((e) => e.layer).filter(Boolean))].sort();
    for (const layer of used) {
      const item = document.createElement("span"), dot = document.createElement("span");
      dot.className = "dot";
      dot.style.background = colour(layer);
      item.append(dot, LAYERS.has(layer) ? layer : `${words["other-layer"]} (${layer})`);
      byId("legend").append(item);
    }
  }

  if (times.length && (ranks.length || events.length)) {
    document.querySelector(".picture").hidden = false;
    reset();
    focus();
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
