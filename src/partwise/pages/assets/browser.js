// The list of examples: filters, order, search, and drawing only what is in sight.

const ORDERS = {
  wrong: ["most mistakes", (one) => -one.wrong],
  share: ["largest share of mistakes", (one) => -one.wrong / Math.max(one.size, 1)],
  surprise: ["most surprising", (one) => -(one.surprise ?? -1)],
  margin: ["narrowest margin", (one) => one.margin ?? Infinity],
  length: ["shortest", (one) => one.words.length],
  file: ["as in the file", (one) => one.n],
};

class Examples {
  constructor(data) {
    this.data = data;
    this.all = data.examples;
    this.texts = this.all.map((one) => one.words.join(" ").toLowerCase());
    const known = this.all.some((one) => one.gold !== undefined);
    this.filter = {text: "", label: "", table: Object.keys(data.tables)[0], pair: null, wrong: false, least: 0, most: Infinity, order: known ? "wrong" : "file"};
    this.list = html("div", {class: "examples", role: "feed", "aria-label": "examples"});
    this.count = html("span", {class: "count", role: "status"});
    this.chosen = html("span");
    this.watcher = new IntersectionObserver((entries) => entries.forEach((e) => this.seen(e)), {rootMargin: "700px 0px"});
    this.node = html("section", {id: "examples"}, html("h2", {}, known ? "Examples, right and predicted" : "Examples"), this.explained(), this.controls(known), this.list);
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("beforeprint", () => [...this.list.children].slice(0, 60).forEach((row) => this.fill(row)));
    this.update();
  }

  explained() {
    const what = {tags: "Dashed: what differs.", arcs: "Predicted arcs are above the words. Wrong ones are red; the right ones are below, green.", tree: "Red: brackets that the right tree does not have; green: those that are missing.", path: "Blue: predicted edges; red: wrong ones; green: right ones that are missing.", graph: "Red nodes have another label in truth, in brackets.", class: ""}[this.data.drawing];
    return html("p", {class: "explained"}, what, " Keys: / to search, j and k for the next and the previous one.");
  }

  controls(known) {
    const set = (name, read) => (event) => { this.filter[name] = read(event.target); this.update(); };
    const labels = new Set(Object.values(this.data.tables).flat());
    const orders = Object.entries(ORDERS).filter(([name]) => (known || !["wrong", "share"].includes(name)) &&
      (!["surprise", "margin"].includes(name) || this.all.some((one) => one[name] !== undefined)));
    this.search = html("input", {type: "search", placeholder: "search words", "aria-label": "search words", oninput: set("text", (e) => e.value.trim().toLowerCase())});
    this.labels = html("select", {onchange: set("label", (e) => e.value)}, html("option", {value: ""}, "all"), [...labels].sort().map((label) => html("option", {value: label}, label)));
    return html("div", {class: "controls sticky"}, this.search,
      labels.size > 0 && html("label", {}, "label", this.labels),
      html("label", {}, "order", html("select", {onchange: set("order", (e) => e.value)}, orders.map(([name, [text]]) => html("option", {value: name, selected: name === this.filter.order}, text)))),
      html("label", {}, "words", html("input", {type: "number", min: 0, "aria-label": "fewest words", placeholder: "min", oninput: set("least", (e) => +e.value || 0)}),
        html("input", {type: "number", min: 0, "aria-label": "most words", placeholder: "max", oninput: set("most", (e) => +e.value || Infinity)})),
      known && html("label", {}, html("input", {type: "checkbox", onchange: set("wrong", (e) => e.checked)}), "only wrong"),
      this.chosen, this.count);
  }

  // Show only examples where one label was taken for another.
  choose(table, gold, found) {
    const labels = this.data.tables[table];
    this.filter.pair = {table, code: labels.indexOf(gold) * labels.length + labels.indexOf(found)};
    this.chosen.replaceChildren(html("button", {type: "button", "aria-label": "show all again", onclick: () => { this.filter.pair = null; this.chosen.replaceChildren(); this.update(); }}, `${gold} → ${found} ✕`));
    this.update();
    this.node.scrollIntoView({behavior: "auto", block: "start"});
  }

  matches(one, j) {
    const {text, label, pair, wrong, least, most} = this.filter, length = one.words.length;
    if (wrong && !one.wrong) return false;
    if (length < least || length > most) return false;
    if (text && !this.texts[j].includes(text)) return false;
    if (pair && !(one.pairs && one.pairs[pair.table] && one.pairs[pair.table].includes(pair.code))) return false;
    return !label || this.hasLabel(one, label);
  }

  hasLabel(one, label) {
    return Object.entries(one.pairs || {}).some(([table, codes]) => {
      const labels = this.data.tables[table], size = labels.length;
      return codes.some((code) => labels[Math.floor(code / size)] === label || labels[code % size] === label);
    });
  }

  update() {
    const key = ORDERS[this.filter.order][1];
    this.shown = this.all.filter((one, j) => this.matches(one, j)).map((one) => [key(one), one]).sort((a, b) => a[0] - b[0] || a[1].n - b[1].n).map((pair) => pair[1]);
    this.watcher.disconnect();
    const rows = this.shown.map((one, j) => {
      const row = document.createElement("article");
      row.className = "example";
      row.tabIndex = -1;
      row.example = one;
      row.setAttribute("aria-posinset", j + 1);
      row.setAttribute("aria-setsize", this.shown.length);
      row.setAttribute("aria-label", `example ${one.n}`);
      return row;
    });
    this.list.replaceChildren(...rows);
    if (!rows.length) this.list.append(html("p", {class: "empty"}, "Nothing matches. Clear a filter."));
    // The first ones at once, the others when they come near.
    rows.slice(0, 8).forEach((row) => this.fill(row));
    rows.forEach((row) => this.watcher.observe(row));
    this.count.textContent = `${whole(this.shown.length)} of ${whole(this.all.length)}`;
    this.at = -1;
  }

  seen(entry) {
    const row = entry.target;
    if (entry.isIntersecting) this.fill(row);
    else if (row.firstChild && !row.contains(document.activeElement)) {
      row.style.height = `${row.getBoundingClientRect().height}px`;
      row.replaceChildren();
    }
  }

  fill(row) {
    if (row.firstChild || !row.example) return;
    row.append(...describe(row.example, this.data.drawing));
    row.style.height = "";
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (event.key === "/") { event.preventDefault(); this.search.focus(); return; }
    const step = {j: 1, k: -1}[event.key];
    if (!step || !this.shown.length) return;
    this.at = Math.min(Math.max(this.at + step, 0), this.shown.length - 1);
    const row = this.list.children[this.at];
    this.fill(row);
    row.scrollIntoView({block: "center"});
    row.focus({preventScroll: true});
  }
}

// What is written about an example, and its drawing.
function describe(one, drawing) {
  const known = one.gold !== undefined;
  const verdict = !known ? null : one.wrong ? html("span", {class: "verdict bad"}, `${one.wrong} wrong of ${one.size}`) : html("span", {class: "verdict good"}, "all right");
  const head = html("header", {}, html("b", {}, `#${whole(one.n)}`), verdict,
    one.score !== undefined && html("span", {}, `suspicion ${number(one.score)}`),
    one.surprise !== undefined && html("span", {title: "how improbable the model finds the right output: -ln p"}, `surprise ${number(one.surprise)}`),
    one.margin !== undefined && html("span", {title: "the score of the best output minus that of the second best"}, `margin ${number(one.margin)}`),
    one.place && html("span", {}, one.place));
  return [head, drawExample(one, drawing), one.why || one.second ? reasons(one, drawing) : ""];
}

function reasons(one, drawing) {
  const box = html("details", {}, html("summary", {}, one.why ? "runner-up and reasons" : "runner-up"));
  box.addEventListener("toggle", () => {
    if (box.children.length > 1) return;
    if (one.second) box.append(html("h3", {}, "second best"), drawExample({...one, found: one.second, gold: undefined, sure: undefined}, drawing));
    for (const [at, label, other, margin, features] of one.why || []) {
      box.append(html("h3", {}, html("span", {dir: "auto"}, one.words[at] ?? ""), ` ${label}${other ? `, not ${other}` : ""}: margin ${number(margin)}`),
        html("table", {class: "features"}, features.map(([feature, whom, value]) => html("tr", {}, html("td", {}, feature), html("td", {}, whom), html("td", {class: `number ${value < 0 ? "minus" : "plus"}`}, (value < 0 ? "" : "+") + number(value))))));
    }
  }, {once: false});
  return box;
}
