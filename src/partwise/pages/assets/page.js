// The page: a section for everything there is data about.

function section(id, title, explained, ...content) {
  return html("section", {id}, html("h2", {}, title), explained && html("p", {class: "explained"}, explained), content);
}

function themeButton() {
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const button = html("button", {type: "button", onclick: () => { root.dataset.theme = dark() ? "light" : "dark"; name(); }});
  const name = () => { button.textContent = dark() ? "light" : "dark"; button.setAttribute("aria-label", `change to the ${button.textContent} theme`); };
  name();
  return button;
}

function overview(data) {
  const tiles = Object.entries(data.scores).map(([name, [value, low, high]]) =>
    html("div", {class: "tile"}, html("b", {}, percent(value)), html("span", {}, name), html("span", {}, `95%: ${percent(low)} – ${percent(high)}`)));
  return section("overview", "The model", "",
    data.certificate && html("p", {}, data.certificate),
    data.note && html("p", {class: "note"}, data.note),
    html("div", {class: "tiles"}, tiles, html("div", {class: "tile"}, html("b", {}, whole(data.examples.length)), html("span", {}, "examples"))),
    html("dl", {class: "facts"}, data.facts.map(([name, value]) => [html("dt", {}, name), html("dd", {}, value)])));
}

function convergence({iteration, seconds, primal, dual, relative_gap, dev_score}) {
  const charts = html("div", {class: "columns"});
  const some = (column) => column.some((v) => v !== null);
  const draw = (byTime) => {
    const xs = byTime ? seconds : iteration, xName = byTime ? "seconds" : "passes";
    charts.replaceChildren();
    if (some(primal)) charts.append(lineChart({title: "objective and lower bound", xs, xName, series: [{name: "objective", values: primal}, {name: "no weights have less", values: dual}]}));
    if (some(relative_gap)) charts.append(lineChart({title: "relative gap", xs, xName, series: [{name: "gap", values: relative_gap}]}));
    if (some(dev_score)) charts.append(lineChart({title: "score on development data", xs, xName, logY: false, series: [{name: "score", values: dev_score}]}));
    buttons.forEach((b, k) => b.setAttribute("aria-pressed", (k === 0) === byTime));
  };
  const buttons = ["seconds", "passes"].map((name, k) => html("button", {type: "button", onclick: () => draw(k === 0)}, `by ${name}`));
  draw(true);
  return section("training", "Training", "The objective comes down, the proved lower bound comes up; the best possible weights lie between the two.", html("div", {class: "controls"}, buttons), charts);
}

function labelScores(rows) {
  const cell = ([value, low, high]) => html("td", {}, html("span", {class: "bar", "aria-hidden": "true", title: `${percent(low)} – ${percent(high)}`},
    html("i", {style: `width:${100 * value}%`}), html("u", {style: `left:${100 * low}%;width:${Math.max(100 * (high - low), 1)}%`})), ` ${percent(value)} `, html("small", {class: "soft"}, `${percent(low, 0)}–${percent(high, 0)}`));
  return section("labels", "By label", "Lines show where 95% of the scores lie when the examples are drawn anew (bootstrap).",
    html("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": "scores by label"}, html("table", {},
      html("thead", {}, html("tr", {}, ["label", "precision", "recall", "F1", "number"].map((name) => html("th", {scope: "col"}, name)))),
      html("tbody", {}, rows.map(([label, p, r, f, support]) => html("tr", {}, html("td", {}, chip(label, label)), cell(p), cell(r), cell(f), html("td", {class: "number"}, whole(support))))))));
}

function confusionSection(tables, browser) {
  return section("confusions", "Confusions", "Right labels in rows, predicted ones in columns. Press a number to see its examples below.",
    Object.entries(tables).map(([name, {labels, counts, left_out}]) => [html("h3", {}, name),
      heatMap({caption: `confusions of ${name}`, rows: labels, columns: labels, values: counts, corner: "right ↓ predicted →",
        text: (row, column, value) => `${row} predicted as ${column}: ${whole(value)}`, press: (row, column) => browser.choose(name, row, column)}),
      left_out > 0 && html("p", {class: "soft"}, `${whole(left_out)} labels with fewer mistakes are left out.`)]));
}

function calibrationSection(calibration) {
  return section("calibration", "Calibration", `Where the line is on the dashed one, of all decisions with a probability of 80% just 80% are right. The expected calibration error is ${percent(calibration.error, 2)}.`, reliability(calibration));
}

function pathSection(points) {
  return section("path", "C", "A larger C fits the training data more closely.", html("div", {class: "columns"},
    lineChart({title: "score on development data", xs: points.map((p) => p.C), xName: "C", logY: false, points: true, series: [{name: "score", values: points.map((p) => p.dev_score)}]}),
    html("table", {}, html("thead", {}, html("tr", {}, ["C", "score", "gap", "passes", "seconds"].map((n) => html("th", {}, n)))), html("tbody", {}, points.map((p) => html("tr", {}, [p.C, p.dev_score, p.gap, p.passes, p.seconds].map((v) => html("td", {class: "number"}, number(v)))))))));
}

function weightsSection(weights, transitions, quantity) {
  const probable = quantity === "probabilities", sign = (w) => (w < 0 || probable ? "" : "+");
  const lists = weights.map(([label, features]) => html("div", {}, label && html("h3", {}, chip(label, label)),
    html("table", {class: "features"}, features.map(([feature, w]) => html("tr", {}, html("td", {}, feature), html("td", {class: `number ${w < 0 ? "minus" : "plus"}`}, sign(w) + number(w)))))));
  return section("weights", "What decides", probable ? "The most probable symbols of every state." : "The features with the largest weights.",
    html("div", {class: "columns"}, lists),
    transitions && [html("h3", {}, "one label after another"), heatMap({caption: `${quantity} of transitions`, rows: transitions.labels, columns: transitions.labels, values: transitions.matrix, diverging: true, corner: "from ↓ to →", text: (row, column, value) => `${column} after ${row}: ${number(value)}`})]);
}

function suspectsSection({by, examples}, drawing) {
  return section("suspects", "Suspects", `Training examples that the model cannot reconcile with the others, and so perhaps annotation mistakes; ${by}.`,
    examples.length ? html("div", {}, examples.map((one) => html("article", {class: "example"}, describe(one, drawing)))) : html("p", {class: "empty"}, "Nothing is suspicious."));
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  // Labels have their colours by the order of the alphabet, not by who comes first.
  for (const labels of Object.values(data.tables)) for (const label of labels) hue(label.replace(/^[BIESLUMW]-/, ""));
  const browser = new Examples(data), sections = [];
  if (data.scores) sections.push(overview(data));
  else if (data.note) sections.push(html("p", {class: "note"}, data.note));
  if (data.trace && data.trace.iteration.length > 1) sections.push(convergence(data.trace));
  if (data.labels && data.labels.length) sections.push(labelScores(data.labels));
  if (data.confusions && Object.keys(data.confusions).length) sections.push(confusionSection(data.confusions, browser));
  if (data.calibration) sections.push(calibrationSection(data.calibration));
  if (data.path && data.path.length) sections.push(pathSection(data.path));
  if ((data.weights && data.weights.length) || data.transitions) sections.push(weightsSection(data.weights, data.transitions, data.quantity));
  if (data.suspects) sections.push(suspectsSection(data.suspects, data.drawing));
  sections.push(browser.node);
  const links = sections.filter((one) => one.id).map((one) => html("a", {href: `#${one.id}`}, one.querySelector("h2").textContent));
  page.append(html("header", {class: "top"}, html("div", {}, html("h1", {}, data.title), data.subtitle && html("div", {class: "soft"}, data.subtitle)), themeButton()));
  if (links.length > 1) page.append(html("nav", {"aria-label": "sections"}, links));
  page.append(html("main", {}, sections));
}

document.addEventListener("DOMContentLoaded", start);
