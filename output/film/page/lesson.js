"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const D = JSON.parse($("data").textContent);
  const M = D.moments, N = D.bands.length;
  const FRAME_MS = 180;
  const squares = [], parts = [];
  let at = 0, timer = null;

  const make = (tag, className, parent, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };
  const scaled = (bytes, digits) => (bytes / D.scale).toFixed(digits) + " " + D.unit;
  const exact = (bytes) => bytes.toLocaleString("en") + " B";
  const height = (bytes) => 100 * bytes / D.top;
  const sum = (bytes) => bytes.reduce((a, b) => a + b, 0);

  /* What was in memory in each column: stored as pairs of the first column and its bytes. */
  const columns = D.columns.map((pairs) => {
    const bytes = [];
    for (let i = 0; i < pairs.length; i += 2) {
      const end = i + 2 < pairs.length ? pairs[i + 2] : D.n_columns;
      while (bytes.length < end) bytes.push(pairs[i + 1]);
    }
    return bytes;
  });

  const rows = (bands, reserved) => {
    const table = make("table");
    const row = (name, bytes, i) => {
      const tr = make("tr", "", table), td = make("td", "", tr);
      if (i >= 0) make("i", "b" + i, td);
      td.append(name);
      make("td", "", tr, scaled(bytes, 2));
      make("td", "", tr, exact(bytes));
    };
    bands.forEach((bytes, i) => { if (bytes > 0) row(D.bands[i], bytes, i); });
    row("in use", sum(bands), -1);
    if (reserved > sum(bands)) row("cached, not in use", reserved - sum(bands), N);
    return table;
  };

  /* ---- one moment ---- */

  const showLayers = (m) => {
    squares.forEach((square, l) => {
      const letter = m.layers[l];
      square.className = "sq " + letter + (l === m.layer ? (m.oom ? " bad" : " now") : "");
      square.style.setProperty("--fill", 10 * Math.max(parseInt(m.tenths[l], 16), 2) + "%");
    });
    const words = Object.keys(D.states).map((letter) => {
      const n = [...m.layers].filter((l) => l === letter).length;
      return n ? n + " " + D.states[letter] : "";
    }).filter(Boolean);
    $("layers").setAttribute("aria-label", "Layers: " + words.join(", "));
  };

  const showTank = (m) => {
    const used = sum(m.bands), tall = $("tank").clientHeight, room = 1.25 * parseFloat(
      getComputedStyle($("labels").firstChild || $("labels")).fontSize);
    let low = 0, last = -room;
    [...m.bands, Math.max(m.reserved - used, 0)].forEach((bytes, i) => {
      const part = parts[i], middle = (height(low) + height(bytes) / 2) * tall / 100;
      part.bar.style.bottom = height(low) + "%";
      part.bar.style.height = height(bytes) + "%";
      part.bar.hidden = bytes === 0;
      part.label.hidden = height(bytes) * tall < 60;
      if (!part.label.hidden) {
        last = Math.max(middle, last + room);
        part.label.style.bottom = last + "px";
        part.words.textContent = (i < N ? D.bands[i] : "cached") + " "
          + (bytes / D.scale).toFixed(D.digits);
      }
      low += bytes;
    });
    $("total").textContent = scaled(used, D.digits);
    $("request").hidden = !m.oom;
    if (m.oom) {
      $("request").style.bottom = height(m.reserved) + "%";
      $("request").style.height = Math.min(height(D.request), 100 - height(m.reserved)) + "%";
    }
  };

  const show = (n) => {
    at = Math.max(0, Math.min(M.length - 1, n));
    const m = M[at], head = m.step ? "step " + m.step : "load";
    $("step").textContent = head;
    $("sentence").textContent = m.words;
    $("now").className = m.oom ? "oom" : "";
    $("scrub").value = at;
    $("scrub").setAttribute("aria-valuetext", head + ", " + m.words);
    $("count").textContent = at + 1 + " of " + M.length;
    $("stage").style.setProperty("--at", 100 * m.at + "%");
    $("back").disabled = $("first").disabled = at === 0;
    $("next").disabled = $("last").disabled = at === M.length - 1;
    showLayers(m);
    showTank(m);
    $("values").replaceChildren(rows(m.bands, m.reserved));
  };

  /* ---- time ---- */

  const stop = () => {
    clearTimeout(timer);
    timer = null;
    $("play").textContent = "Play";
    $("now").setAttribute("aria-live", "polite");
  };
  const tick = () => {
    if (at >= M.length - 1) return stop();
    timer = setTimeout(() => { show(at + 1); tick(); },
      FRAME_MS * M[at].frames / Number($("speed").value));
  };
  const play = () => {
    if (timer !== null) return stop();
    if (at === M.length - 1) show(0);
    $("play").textContent = "Pause";
    $("now").setAttribute("aria-live", "off");
    tick();
  };
  const go = (n) => { stop(); show(n); };

  $("play").addEventListener("click", play);
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(at - 1));
  $("next").addEventListener("click", () => go(at + 1));
  $("last").addEventListener("click", () => go(M.length - 1));
  $("scrub").addEventListener("input", () => go(Number($("scrub").value)));
  document.addEventListener("keydown", (event) => {
    const keys = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: M.length - 1 };
    const target = event.target, tag = target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || tag === "SELECT") return;
    if (event.key === " " && tag !== "BUTTON" && tag !== "SUMMARY") {
      event.preventDefault();
      play();
    } else if (event.key in keys) {
      event.preventDefault();
      go(keys[event.key]);
    }
  });

  /* ---- exact values under the pointer ---- */

  const phaseAt = (ns) => {
    const p = D.phases.find((phase) => ns >= phase[0] && ns < phase[1]);
    if (!p) return "";
    return (p[2] ? "step " + p[2] + ", " : "") + (p[3] ? "micro-batch " + p[3] + ", " : "") + p[4];
  };
  const tell = (event, title, body) => {
    const tip = $("tip");
    tip.replaceChildren(make("p", "", null, title), ...body);
    tip.hidden = false;
    const left = event.clientX + 16 + tip.offsetWidth < innerWidth
      ? event.clientX + 16 : event.clientX - 16 - tip.offsetWidth;
    const top = Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 6);
    tip.style.left = Math.max(left, 4) + "px";
    tip.style.top = Math.max(top, 4) + "px";
  };
  const hide = () => { $("tip").hidden = true; };
  const share = (event) => {
    const box = $("plot").getBoundingClientRect();
    return Math.max(0, Math.min(0.999999, (event.clientX - box.left) / box.width));
  };
  const nearest = (x) => M.reduce((best, m, i) =>
    Math.abs(m.at - x) < Math.abs(M[best].at - x) ? i : best, 0);
  const hover = (event) => {
    const column = Math.floor(share(event) * D.n_columns), ns = (column + 0.5) / D.n_columns * D.end_ns;
    const title = D.end_ns > 0 ? (ns / 1e6).toFixed(1) + " ms  " + phaseAt(ns) : "load";
    const bands = columns.slice(0, N).map((c) => c[column]);
    tell(event, title, [rows(bands, columns[N][column])]);
  };
  let isDown = false;
  $("plot").addEventListener("pointerdown", (event) => {
    isDown = true;
    go(nearest(share(event)));
  });
  addEventListener("pointerup", () => { isDown = false; });
  $("plot").addEventListener("pointermove", (event) => {
    hover(event);
    if (isDown) go(nearest(share(event)));
  });
  $("layers").addEventListener("pointermove", (event) => {
    const l = squares.indexOf(event.target), m = M[at];
    if (l < 0) return hide();
    tell(event, "layer " + l, [make("span", "", null, D.states[m.layers[l]])]);
  });
  $("tank").addEventListener("pointermove", (event) =>
    tell(event, $("step").textContent + ", now", [rows(M[at].bands, M[at].reserved)]));
  ["plot", "layers", "tank"].forEach((id) => $(id).addEventListener("pointerleave", hide));

  /* ---- the parts that moments change ---- */

  for (let l = 0; l < D.n_layers; l++) squares.push(make("span", "sq", $("layers")));
  for (let i = 0; i <= N; i++) {
    const bar = make("div", "part b" + i, $("bars")), label = make("div", "label", $("labels"));
    make("i", "b" + i, label);
    parts.push({ bar, label, words: make("span", "", label) });
  }
  $("scrub").max = M.length - 1;
  addEventListener("resize", () => show(at));
  $("controls").hidden = false;
  show(0);
})();
