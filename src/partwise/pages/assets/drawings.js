// Drawings of outputs: predicted and right ones, with what differs marked.

const WORD = 15, SMALL = 12, LEVEL = 25, MARGIN = 16;

function drawExample(one, kind) {
  const gold = one.gold === "=" ? one.found : one.gold;
  const draw = {tags: drawTags, arcs: drawArcs, tree: drawTrees, path: drawPath, graph: drawGraph, class: drawClass}[kind];
  return draw(one, one.found, gold);
}

// Two outputs below each other, or one if they are the same.
function sideBySide(first, second) {
  if (!second) return html("div", {class: "drawing", tabindex: 0, role: "group", "aria-label": "drawing"}, first);
  return html("div", {class: "side"},
    html("span", {class: "who"}, "predicted"), html("div", {class: "drawing", tabindex: 0, role: "group", "aria-label": "predicted"}, first),
    html("span", {class: "who"}, "right"), html("div", {class: "drawing gold", tabindex: 0, role: "group", "aria-label": "right"}, second));
}

// --- labels and chunks ---------------------------------------------------------------

function drawTags(one, found, gold) {
  if (found.spans) {
    const same = !gold || JSON.stringify(found.spans) === JSON.stringify(gold.spans);
    return sideBySide(drawSpans(one, found.spans, same ? null : gold.spans, one.sure),
      same ? null : drawSpans(one, gold.spans, found.spans));
  }
  const tokens = one.words.map((word, t) => {
    const wrong = gold && gold.labels[t] !== found.labels[t];
    const sure = one.sure ? `${found.labels[t]}: ${percent(one.sure[t])}` : null;
    return html("span", {class: "token", title: sure},
      html("span", {class: "word", dir: "auto"}, word),
      chip(found.labels[t], found.labels[t], wrong ? "differs" : ""),
      wrong && chip(gold.labels[t], gold.labels[t], "right"));
  });
  return html("div", {class: "tokens drawing", tabindex: 0, role: "group", "aria-label": "labels", dir: runsLeft(one.words) ? "rtl" : "ltr"}, tokens);
}

function drawSpans(one, spans, others, sure) {
  const known = others && new Set(others.map(String));
  const line = html("div", {class: "line", dir: runsLeft(one.words) ? "rtl" : "ltr"});
  let t = 0;
  for (const [start, end, label] of spans) {
    for (; t < start; t++) line.append(html("span", {class: "word", dir: "auto"}, one.words[t]), " ");
    const share = sure && Math.min(...sure.slice(start, end));
    const differs = known && !known.has(String([start, end, label]));
    line.append(chip(one.words.slice(start, end).join(" "), label, differs ? "differs" : "",
      html("b", {}, label), share !== undefined && html("small", {}, percent(share, 0))), " ");
    t = end;
  }
  for (; t < one.words.length; t++) line.append(html("span", {class: "word", dir: "auto"}, one.words[t]), " ");
  return line;
}

// --- dependency trees: predicted arcs above the words, right ones below where they differ

function levels(arcs, size) {
  const height = new Array(size + 2).fill(0), found = new Map();
  const span = ([h, m]) => [Math.min(h, m), Math.max(h, m)];
  for (const arc of [...arcs].sort((p, q) => Math.abs(p[0] - p[1]) - Math.abs(q[0] - q[1]))) {
    const [a, b] = span(arc);
    let level = 0;
    for (let j = a; j < b; j++) level = Math.max(level, height[j]);
    for (let j = a; j < b; j++) height[j] = level + 1;
    found.set(arc, level + 1);
  }
  return found;
}

function drawArcs(one, found, gold) {
  const n = one.words.length;
  const arcsOf = (tree, wanted) => tree.heads.map((h, m) => [h, m + 1, tree.labels[m] || ""]).filter((arc, m) => wanted(m));
  const wrong = (m) => gold && (gold.heads[m] !== found.heads[m] || (gold.labels.length > 0 && gold.labels[m] !== found.labels[m]));
  const above = arcsOf(found, () => true), below = gold ? arcsOf(gold, wrong) : [];
  const text = (arc, sure) => [arc[2] || (arc[0] ? "" : "root"), sure && one.sure ? percent(one.sure[arc[1] - 1], 0) : ""].filter(Boolean).join(" ");
  const widest = one.words.map((word, t) => Math.max(textWidth(word, WORD), one.tags ? textWidth(one.tags[t], SMALL) : 0));
  // Room between neighbours for the label of an arc that joins them.
  const room = new Array(n + 1).fill(18);
  for (const [arcs, sure] of [[above, true], [below, false]]) {
    for (const arc of arcs) {
      const [a, b] = [Math.min(arc[0], arc[1]), Math.max(arc[0], arc[1])];
      if (a === 0) continue;
      let between = 0;
      for (let j = a; j < b - 1; j++) between += widest[j] + room[j];
      const lacks = textWidth(text(arc, sure), SMALL) + 14 - between - (widest[a - 1] + widest[b - 1]) / 2 - room[b - 1];
      if (lacks > 0) room[b - 1] += lacks;
    }
  }
  const centre = [0];
  let x = MARGIN;
  for (let m = 0; m < n; m++) {
    if (m) x += room[m];
    centre.push(x + widest[m] / 2);
    x += widest[m];
  }
  const width = x + MARGIN;
  if (runsLeft(one.words)) for (let m = 1; m <= n; m++) centre[m] = width - centre[m];
  const inner = above.filter((arc) => arc[0]), lower = below.filter((arc) => arc[0]);
  const up = levels(inner, n), down = levels(lower, n);
  const ground = MARGIN + SMALL + (Math.max(0, ...up.values()) + 1) * LEVEL;
  const floor = ground + WORD + 8 + (one.tags ? SMALL + 4 : 0);
  const height = below.length ? floor + (Math.max(0, ...down.values()) + 1) * LEVEL + SMALL + 6 : floor + 8;
  const drawn = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": above.map(([h, m, l]) => `${one.words[m - 1]} ← ${h ? one.words[h - 1] : "root"} ${l}`).join("; ")});
  const put = (arc, level, base, sign, kind, sure) => {
    const [h, m] = arc, tip = centre[m];
    const arrow = `M${tip} ${base} l-4 ${-sign * 8} h8 z`;
    let line, at;
    if (h) {
      const step = centre[h] < tip ? 1 : -1, start = centre[h] + step * 5, end = tip - step * 2;
      const top = base - sign * level * LEVEL, corner = Math.min(9, Math.abs(end - start) / 2);
      line = `M${start} ${base} V${top + sign * corner} Q${start} ${top} ${start + step * corner} ${top} H${end - step * corner} Q${end} ${top} ${end} ${top + sign * corner} V${base - sign * 4}`;
      at = [(start + end) / 2, top + (sign > 0 ? -4 : 13)];
      drawn.append(svg("g", {class: `arc ${kind}`, "data-head": h, "data-dependent": m},
        svg("title", {}, `${one.words[m - 1]} ← ${one.words[h - 1]} ${text(arc, sure)}`),
        svg("path", {d: line, "data-start": start, "data-end": end}),
        svg("path", {class: "tip", d: arrow.replace(`M${tip}`, `M${end}`)}),
        svg("text", {x: at[0], y: at[1]}, text(arc, sure))));
    } else {
      const top = sign > 0 ? MARGIN + SMALL : height - SMALL - 6;
      drawn.append(svg("g", {class: `arc ${kind}`, "data-head": 0, "data-dependent": m},
        svg("title", {}, `${one.words[m - 1]} ← root`),
        svg("path", {d: `M${tip} ${top} V${base - sign * 4}`, "data-start": tip, "data-end": tip}), svg("path", {class: "tip", d: arrow}),
        svg("text", {x: tip, y: top + (sign > 0 ? -4 : 13)}, text(arc, sure))));
    }
  };
  for (const arc of above) put(arc, up.get(arc), ground, 1, wrong(arc[1] - 1) ? "wrong" : "", true);
  for (const arc of below) put(arc, down.get(arc), floor, -1, "right", false);
  one.words.forEach((word, t) => {
    drawn.append(svg("text", {x: centre[t + 1], y: ground + WORD + 2, "font-size": WORD, "text-anchor": "middle", "data-word": t + 1}, word));
    if (one.tags) drawn.append(svg("text", {class: "small", x: centre[t + 1], y: ground + WORD + SMALL + 6, "text-anchor": "middle"}, one.tags[t]));
  });
  return html("div", {class: "drawing", tabindex: 0, role: "group", "aria-label": "tree"}, drawn);
}

// --- constituency trees ----------------------------------------------------------------

function brackets(tree) {
  const found = [];
  const walk = (node, start) => {
    if (typeof node[1] === "string") return start + 1;
    const mine = found.push("") - 1;
    let end = start;
    for (const child of node.slice(1)) end = walk(child, end);
    found[mine] = `${node[0]} ${start} ${end}`;
    return end;
  };
  walk(tree, 0);
  return found;
}

function drawTrees(one, found, gold) {
  if (!found) return sideBySide(html("p", {class: "soft"}, "no parse"), gold && drawTree(one, gold, null, "right"));
  const own = brackets(found), other = gold && brackets(gold);
  const same = !gold || JSON.stringify(own) === JSON.stringify(other);
  return sideBySide(drawTree(one, found, other, "wrong"), same ? null : drawTree(one, gold, own, "right"));
}

function drawTree(one, tree, others, kind) {
  const known = others && others.slice();
  const sure = kind === "wrong" && one.sure ? new Map(one.sure.map(([l, a, b, p]) => [`${l} ${a} ${b}`, p])) : new Map();
  const drawn = [], lines = [];
  let x = MARGIN, word = 0;
  const depth = (node) => (typeof node[1] === "string" ? 1 : 1 + Math.max(...node.slice(1).map(depth)));
  const rows = depth(tree), height = MARGIN + rows * 36 + 30;
  const place = (node, level) => {
    const y = MARGIN + level * 36 + 12;
    if (typeof node[1] === "string") {
      const wide = Math.max(textWidth(node[1], WORD), textWidth(node[0], SMALL)) + 14, at = x + wide / 2;
      x += wide + 4;
      word += 1;
      const low = height - 14;
      lines.push(svg("path", {class: "branch", d: `M${at} ${y + 6} V${low - 14}`}));
      drawn.push(svg("text", {class: "small", x: at, y: y + 2, "text-anchor": "middle"}, node[0]),
        svg("text", {x: at, y: low, "font-size": WORD, "text-anchor": "middle"}, node[1]));
      return at;
    }
    const start = word, first = x;
    const label = () => { const p = sure.get(`${node[0]} ${start} ${word}`); return p === undefined ? node[0] : `${node[0]} ${percent(p, 0)}`; };
    const below = node.slice(1).map((child) => [place(child, level + 1), typeof child[1] === "string"]);
    const text = label(), wide = textWidth(text, SMALL) + 12;
    if (x - first < wide) x = first + wide;
    const at = (below[0][0] + below[below.length - 1][0]) / 2;
    const bracket = `${node[0]} ${start} ${word}`, hit = known ? known.indexOf(bracket) : 0;
    if (known && hit >= 0) known.splice(hit, 1);
    for (const [b] of below) lines.push(svg("path", {class: "branch", d: `M${at} ${y + 7} L${b} ${y + 26}`}));
    drawn.push(svg("g", {class: `node ${known && hit < 0 ? kind : ""}`, "data-label": node[0]},
      svg("rect", {x: at - wide / 2, y: y - 11, width: wide, height: 19, rx: 5}), svg("text", {x: at, y: y + 3}, text)));
    return at;
  };
  place(tree, 0);
  const width = x + MARGIN;
  return svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": one.words.join(" ")}, lines, drawn);
}

// --- lattices -------------------------------------------------------------------------

function drawPath(one, found, gold) {
  const column = new Map(), into = new Map();
  for (const [a, b] of one.edges) { column.set(a, 0); column.set(b, 0); }
  for (const [a, b] of one.edges) into.set(b, [...(into.get(b) || []), a]);
  for (let round = 0; round < column.size; round++) {
    let moved = false;
    for (const [a, b] of one.edges) if (column.get(b) <= column.get(a)) { column.set(b, column.get(a) + 1); moved = true; }
    if (!moved) break;
  }
  const layers = [];
  for (const [node, c] of column) (layers[c] = layers[c] || []).push(node);
  const widest = layers.map(() => 60);
  for (const [a, b, text] of one.edges) {
    const c = column.get(b);
    widest[c] = Math.max(widest[c], (textWidth(text, SMALL) + 34) / (c - column.get(a)));
  }
  const xs = [MARGIN + 8];
  for (let c = 1; c < layers.length; c++) xs[c] = xs[c - 1] + widest[c];
  const tall = Math.max(...layers.map((l) => l.length)) * 62, at = new Map();
  layers.forEach((layer, c) => layer.forEach((node, j) => at.set(node, [xs[c], MARGIN + 24 + tall * (j + 0.5) / layer.length])));
  const chosen = new Set(found), good = new Set(gold || []), between = new Map(), drawn = [], texts = [];
  one.edges.forEach(([a, b, text], e) => {
    const key = `${a}\t${b}`, count = between.get(key) || 0;
    between.set(key, count + 1);
    const [x1, y1] = at.get(a), [x2, y2] = at.get(b);
    const bend = (count % 2 ? -1 : 1) * Math.ceil(count / 2) * 34 + (column.get(b) - column.get(a) > 1 && !count ? -30 : 0);
    const mid = [(x1 + x2) / 2, (y1 + y2) / 2 + bend];
    const kind = chosen.has(e) ? (gold && !good.has(e) ? "wrong" : "found") : good.has(e) ? "gold" : "";
    const sure = one.sure ? ` ${percent(one.sure[e], 0)}` : "";
    drawn.push(svg("path", {class: `edge ${kind}`, d: `M${x1} ${y1} Q${mid[0]} ${mid[1] + bend} ${x2} ${y2}`, "data-edge": e}, svg("title", {}, text + sure)));
    if (text || kind) texts.push({text: text + (kind ? sure : ""), kind, x: mid[0], y: mid[1] - 5});
  });
  // Edges of the paths are named first; another one only where its name covers none.
  const named = [], apart = (p, q) => Math.abs(p.y - q.y) > SMALL + 2 || Math.abs(p.x - q.x) > (textWidth(p.text, SMALL) + textWidth(q.text, SMALL)) / 2 + 4;
  for (const name of [...texts.filter((t) => t.kind), ...texts.filter((t) => !t.kind)]) {
    // A name that covers others moves up or down, as far as it is still near its edge.
    const places = (name.kind ? [0, -14, 14, -28, 28] : [0]).map((dy) => ({...name, y: name.y + dy}));
    const free = places.find((place) => named.every((other) => apart(place, other)));
    if (!free && !name.kind) continue;
    named.push(free || name);
    drawn.push(svg("text", {class: name.kind ? "onedge" : "onedge small", "font-size": SMALL, x: name.x, y: (free || name).y, "text-anchor": "middle"}, name.text));
  }
  for (const [x, y] of at.values()) drawn.push(svg("circle", {class: "state", cx: x, cy: y, r: 5}));
  const width = xs[xs.length - 1] + MARGIN + 8, height = tall + 2 * MARGIN + 36;
  return html("div", {class: "drawing", tabindex: 0, role: "group", "aria-label": "lattice"},
    svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `path: ${one.words.join(" ")}`}, drawn));
}

// --- graphs ---------------------------------------------------------------------------

const MOST_NODES = 120;

// Turn points so that they spread most from left to right, as lines are read.
function turnLevel(at) {
  const mean = [0, 1].map((k) => at.reduce((sum, p) => sum + p[k], 0) / at.length);
  let xx = 0, xy = 0, yy = 0;
  for (const [x, y] of at) { xx += (x - mean[0]) ** 2; xy += (x - mean[0]) * (y - mean[1]); yy += (y - mean[1]) ** 2; }
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  // Half a turn is as level; the first node goes to the left.
  const sign = (at[0][0] - mean[0]) * Math.cos(angle) + (at[0][1] - mean[1]) * Math.sin(angle) > 0 ? -1 : 1;
  const cos = sign * Math.cos(angle), sin = sign * Math.sin(angle);
  for (const p of at) { const [x, y] = p; p[0] = x * cos + y * sin; p[1] = y * cos - x * sin; }
}

function drawGraph(one, found, gold) {
  const n = one.words.length;
  if (n > MOST_NODES || n < 2) return drawTags(one, found, gold);
  // Nodes push each other away, edges pull theirs together.
  const side = 90 * Math.sqrt(n), ideal = side / Math.sqrt(n);
  const at = one.words.map((_, v) => [side * (0.5 + 0.45 * Math.cos(2 * Math.PI * v / n)), side * (0.5 + 0.45 * Math.sin(2 * Math.PI * v / n))]);
  for (let round = 0; round < 120; round++) {
    const move = at.map(() => [0, 0]);
    const pull = (a, b, force) => {
      const dx = at[a][0] - at[b][0], dy = at[a][1] - at[b][1], far = Math.max(Math.hypot(dx, dy), 0.01), f = force(far) / far;
      move[a][0] += dx * f; move[a][1] += dy * f; move[b][0] -= dx * f; move[b][1] -= dy * f;
    };
    for (let a = 0; a < n; a++) for (let b = a + 1; b < n; b++) pull(a, b, (d) => ideal * ideal / d);
    for (const [a, b] of one.edges) if (a !== b) pull(a, b, (d) => -d * d / ideal);
    const most = side * 0.1 * (1 - round / 120);
    at.forEach((p, v) => { const far = Math.max(Math.hypot(...move[v]), 0.01), step = Math.min(far, most) / far; p[0] += move[v][0] * step; p[1] += move[v][1] * step; });
  }
  turnLevel(at);
  const low = [0, 1].map((k) => Math.min(...at.map((p) => p[k]))), high = [0, 1].map((k) => Math.max(...at.map((p) => p[k])));
  at.forEach((p) => { p[0] -= low[0] - 60; p[1] -= low[1] - 30; });
  const width = high[0] - low[0] + 120, height = high[1] - low[1] + 64;
  const drawn = one.edges.map(([a, b]) => svg("path", {class: "branch", d: `M${at[a]} L${at[b]}`}));
  one.words.forEach((name, v) => {
    const wrong = gold && gold.labels[v] !== found.labels[v];
    const text = `${name}: ${found.labels[v]}` + (wrong ? ` (${gold.labels[v]})` : ""), wide = textWidth(text, SMALL) + 12;
    drawn.push(svg("g", {class: `node ${wrong ? "wrong" : ""}`}, svg("title", {}, one.sure ? `${text} ${percent(one.sure[v])}` : text),
      svg("rect", {x: at[v][0] - wide / 2, y: at[v][1] - 11, width: wide, height: 21, rx: 8}), svg("text", {x: at[v][0], y: at[v][1] + 4}, text)));
  });
  return html("div", {class: "drawing", tabindex: 0, role: "group", "aria-label": "graph"},
    svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "graph"}, drawn));
}

// --- classes --------------------------------------------------------------------------

function drawClass(one, found, gold) {
  const rows = found.map(([name, value], j) => {
    const wrong = gold && gold[j][1] !== value;
    return html("div", {class: "line"}, name && html("span", {class: "soft"}, `${name}: `), chip(value, value, wrong ? "differs" : ""),
      wrong && [" right: ", chip(gold[j][1], gold[j][1], "right")],
      one.shares && one.shares[j].map(([label, p]) => html("span", {class: "soft"}, ` ${label} ${percent(p, 0)}`)));
  });
  return html("div", {class: "drawing", tabindex: 0, role: "group", "aria-label": "class"}, rows, html("div", {class: "soft"}, one.words.map((w) => html("span", {class: "word", dir: "auto"}, `${w} `))));
}
