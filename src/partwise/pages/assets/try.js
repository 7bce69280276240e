// A page to type a sentence on: its output drawn, with alternatives and reasons.

function start() {
  let {models} = JSON.parse(document.getElementById("data").textContent);
  const text = html("textarea", {rows: 3, id: "text", "aria-label": "input", "aria-describedby": "takes", dir: "auto"});
  const which = html("select", {id: "model"}, models.map(({name, kind}) => html("option", {value: name}, `${name} (${kind})`)));
  const takes = html("p", {class: "explained", id: "takes"});
  const answer = html("div", {class: "answer", role: "status"});
  const chosen = () => models.find(({name}) => name === which.value);
  const examples = new Set();
  let asked = 0;
  const describeModel = () => {
    models.forEach(({example}) => examples.add(example));
    takes.textContent = `${chosen().input} For example: ${chosen().example}`;
    text.placeholder = chosen().example;
    // What was typed stays; the example of another model, and its answer, which may be
    // on its way, are none of this one.
    const kept = text.value.trim();
    if (kept !== chosen().example && examples.has(kept)) text.value = "";
    answer.replaceChildren();
    asked++;
  };
  // A model may have been replaced by one that takes something else.
  const renew = async () => {
    const before = JSON.stringify(chosen());
    try {
      const known = await (await fetch("/models")).json();
      models = Object.entries(known).map(([name, about]) => ({name, ...about}));
    } catch { return; } // whoever asks next is told
    if (JSON.stringify(chosen()) !== before) describeModel();
  };
  const fail = (words) => answer.replaceChildren(html("p", {class: "note"}, words));
  const read = () => {
    const typed = text.value.trim();
    if (!/^[[{]/.test(typed)) return typed;
    try { return JSON.parse(typed); } catch (error) { throw new Error(`This begins like JSON, but is not: ${error.message}`); }
  };
  const ask = async (event) => {
    event.preventDefault();
    if (!text.value.trim()) text.value = chosen().example;
    const own = ++asked;
    try {
      const reply = await fetch(`/models/${encodeURIComponent(which.value)}/view`, {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({inputs: [read()]})});
      const found = await reply.json();
      if (own !== asked) return; // another question has been asked, or another model
      if (!reply.ok) return fail(typeof found.detail === "string" ? found.detail : JSON.stringify(found.detail));
      answer.replaceChildren(...found.examples.map((one) => html("article", {class: "example"}, describe(one, one.drawing))),
        chosen().note && found.examples.some((one) => one.sure || one.drawing === "class") ? html("p", {class: "note"}, chosen().note) : "");
    } catch (error) {
      if (own === asked) fail(error instanceof TypeError ? "The server does not answer." : error.message);
    }
  };
  which.addEventListener("change", describeModel);
  which.addEventListener("change", renew);
  addEventListener("focus", renew);
  text.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey) ask(event); });
  describeModel();
  document.getElementById("page").append(html("header", {class: "top alone"}, html("h1", {}, "Try a model")),
    html("main", {}, html("section", {}, html("form", {onsubmit: ask}, takes, text, html("div", {class: "controls"}, html("label", {}, "model", which), html("button", {type: "submit"}, "predict"))), answer),
      html("p", {class: "soft"}, html("a", {href: "/docs"}, "requests"), " · ", html("a", {href: "/metrics"}, "metrics"), " · ", html("a", {href: "/health"}, "health"))));
  text.focus();
}

document.addEventListener("DOMContentLoaded", start);
