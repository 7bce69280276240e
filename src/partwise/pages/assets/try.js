// A page to type a sentence on: its output drawn, with alternatives and reasons.

function start() {
  const {models} = JSON.parse(document.getElementById("data").textContent);
  const text = html("textarea", {rows: 3, id: "text", "aria-label": "input", placeholder: "Type a sentence, words with blanks between them. More columns of a word follow after |, as in Dogs|NOUN. Lattices, rows and numbers are JSON."});
  const which = html("select", {id: "model"}, models.map(([name, kind]) => html("option", {value: name}, `${name} (${kind})`)));
  const answer = html("div", {class: "answer", role: "status"});
  const read = () => { const typed = text.value.trim(); return /^[[{]/.test(typed) ? JSON.parse(typed) : typed; };
  const ask = async (event) => {
    event.preventDefault();
    try {
      const reply = await fetch(`/models/${encodeURIComponent(which.value)}/view`, {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({inputs: [read()]})});
      const found = await reply.json();
      if (!reply.ok) throw new Error(typeof found.detail === "string" ? found.detail : JSON.stringify(found.detail));
      answer.replaceChildren(...found.examples.flatMap((one) => describe(one, found.drawing)));
    } catch (error) {
      answer.replaceChildren(html("p", {class: "note"}, error.message));
    }
  };
  text.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey) ask(event); });
  document.getElementById("page").append(html("header", {class: "top"}, html("h1", {}, "Try a model")),
    html("main", {}, html("section", {}, html("form", {onsubmit: ask}, text, html("div", {class: "controls"}, html("label", {}, "model", which), html("button", {type: "submit"}, "predict"))), answer),
      html("p", {class: "soft"}, html("a", {href: "/openapi.json"}, "OpenAPI"), " · ", html("a", {href: "/metrics"}, "metrics"), " · ", html("a", {href: "/health"}, "health"))));
  text.focus();
}

document.addEventListener("DOMContentLoaded", start);
