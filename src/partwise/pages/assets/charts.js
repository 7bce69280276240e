// Charts: lines on linear or logarithmic axes, and a reliability diagram.

function scale(values, from, to, mayBeLog) {
  const known = values.filter((v) => v !== null && isFinite(v));
  let low = Math.min(...known), high = Math.max(...known);
  const log = mayBeLog && low > 0 && high / low > 5;
  if (low === high) { low -= Math.abs(low) * 0.1 || 1; high += Math.abs(high) * 0.1 || 1; }
  const f = log ? Math.log10 : (v) => v;
  const place = (v) => from + (f(v) - f(low)) / (f(high) - f(low)) * (to - from);
  const ticks = [];
  if (log) {
    const all = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) for (const d of [1, 2, 5]) all.push(d * 10 ** e);
    const inside = all.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    const decades = inside.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
    const chosen = decades.length >= 3 ? decades : inside;
    ticks.push(...chosen.filter((_, j) => j % Math.ceil(chosen.length / 6) === 0));
  } else {
    const step = 10 ** Math.floor(Math.log10((high - low) / 4)) * ([1, 2, 5, 10].find((m) => m * 10 ** Math.floor(Math.log10((high - low) / 4)) >= (high - low) / 5) || 10);
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) ticks.push(+v.toPrecision(12));
  }
  return {place, ticks, log};
}

function lineChart({title, xs, series, xName, yName, logX = true, logY = true, points = false}) {
  const width = 460, height = 260, left = 66, right = 14, top = 14, bottom = 44;
  const x = scale(xs, left, width - right, logX), y = scale(series.flatMap((one) => one.values), height - bottom, top, logY);
  const drawn = [];
  for (const t of y.ticks) drawn.push(svg("path", {class: "axis", d: `M${left} ${y.place(t)} H${width - right}`}),
    svg("text", {class: "small", x: left - 8, y: y.place(t) + 4, "text-anchor": "end"}, number(t)));
  for (const t of x.ticks) drawn.push(svg("path", {class: "axis", d: `M${x.place(t)} ${height - bottom} v5`}),
    svg("text", {class: "small", x: x.place(t), y: height - bottom + 18, "text-anchor": "middle"}, number(t)));
  drawn.push(svg("text", {class: "small", x: (left + width) / 2, y: height - 6, "text-anchor": "middle"}, xName + (x.log ? " (log)" : "")));
  series.forEach((one, k) => {
    const at = one.values.map((v, j) => [xs[j], v]).filter(([a, v]) => v !== null && (!y.log || v > 0) && (!x.log || a > 0)).map(([a, v]) => [x.place(a), y.place(v)]);
    const letter = "ab"[k % 2];
    if (at.length > 1) drawn.push(svg("path", {class: `series ${letter}`, d: `M${at.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join(" L")}`}));
    if (points || at.length < 30) for (const [a, b] of at) drawn.push(svg("circle", {class: letter, cx: a, cy: b, r: 2.6}));
  });
  const legend = html("div", {class: "soft"}, series.map((one, k) => html("span", {style: "margin-right:14px"},
    svg("svg", {width: 18, height: 10, style: "display:inline-block;margin-right:5px", "aria-hidden": "true"}, svg("path", {class: `series ${"ab"[k % 2]}`, d: "M0 5 H18"})), one.name)));
  const box = html("figure", {style: "margin:0"}, html("h3", {}, title + (y.log ? " (log)" : "")),
    svg("svg", {viewBox: `0 0 ${width} ${height}`, style: "width:100%;max-width:520px;height:auto", role: "img", "aria-label": `${title} against ${xName}`}, drawn));
  if (series.length > 1) box.append(legend);
  return box;
}

function reliability({bins}) {
  const size = 270, left = 44, bottom = 40, top = 12, wide = size - left - 20, tall = size - top - bottom;
  const x = (p) => left + p * wide, y = (p) => top + (1 - p) * tall, most = Math.max(...bins.map((b) => b[2]));
  const drawn = [svg("path", {class: "axis", d: `M${x(0)} ${y(0)} L${x(1)} ${y(1)}`, "stroke-dasharray": "5 4", stroke: "currentColor"})];
  for (const t of [0, 0.25, 0.5, 0.75, 1]) drawn.push(svg("path", {class: "axis", d: `M${x(0)} ${y(t)} H${x(1)}`}),
    svg("text", {class: "small", x: left - 6, y: y(t) + 4, "text-anchor": "end"}, percent(t, 0)), svg("text", {class: "small", x: x(t), y: y(0) + 16, "text-anchor": "middle"}, percent(t, 0)));
  const points = bins.map(([p, right, count]) => [x(p), y(right), 3 + 6 * Math.sqrt(count / most), p, right, count]);
  drawn.push(svg("path", {class: "series a", d: `M${points.map((p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join(" L")}`}));
  for (const [a, b, r, p, right, count] of points) drawn.push(svg("circle", {class: "a", cx: a, cy: b, r}, svg("title", {}, `${whole(count)} decisions of probability ${percent(p)}: ${percent(right)} are right`)));
  drawn.push(svg("text", {class: "small", x: x(0.5), y: size - 4, "text-anchor": "middle"}, "probability"));
  return svg("svg", {viewBox: `0 0 ${size} ${size}`, style: "width:100%;max-width:330px;height:auto", role: "img", "aria-label": "share of right decisions by probability"}, drawn);
}

// A table of numbers as colours. `press(row, column)` makes its cells buttons.
function heatMap({caption, rows, columns, values, text, diverging, press, corner}) {
  const most = Math.max(1e-12, ...values.flat().map(Math.abs));
  const offDiagonal = Math.max(1e-12, ...values.flatMap((row, i) => row.filter((_, j) => rows[i] !== columns[j]).map(Math.abs)));
  const cells = rows.map((row, i) => html("tr", {}, html("th", {scope: "row"}, row), columns.map((column, j) => {
    const value = values[i][j], red = diverging ? value < 0 : row !== column;
    const share = value === 0 ? 0 : 0.12 + 0.88 * Math.sqrt(Math.abs(value) / (diverging || row === column ? most : offDiagonal));
    const attributes = {style: `--share:${share.toFixed(2)}`, title: text(row, column, value)};
    const strong = share > 0.8 ? " strong" : "";
    if (share > 0.45 && !strong) attributes.style = "--share:0.45";
    if (strong) attributes.style = "--share:1";
    const shown = value === 0 ? "" : diverging ? value.toFixed(1) : whole(value);
    const name = {"aria-label": text(row, column, value)};
    const inner = press && value ? html("button", {...attributes, ...name, type: "button", onclick: () => press(row, column)}, shown) : html("span", attributes, shown);
    return html("td", {class: (red ? "wrong" : "") + strong}, inner);
  })));
  return html("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": caption}, html("table", {class: "heat"},
    html("thead", {}, html("tr", {}, html("td", {}, html("small", {class: "soft"}, corner || "")), columns.map((c) => html("th", {scope: "col"}, html("span", {}, c))))), html("tbody", {}, cells)));
}
