// What a server answers: its requests, and the fields of each, from its OpenAPI.

function start() {
  const {api} = JSON.parse(document.getElementById("data").textContent);
  const meant = (schema) => schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema ?? {};
  const typeOf = (schema) => schema.anyOf ? schema.anyOf.map(typeOf).join(" or ") : schema.type ?? "anything";
  const row = (name, where, schema, required) => html("tr", {}, html("td", {}, html("code", {}, name)), html("td", {}, where), html("td", {}, typeOf(schema)),
    html("td", {}, [schema.description, required && "Required.", schema.default !== undefined && `Default: ${schema.default}.`].filter(Boolean).join(" ")));
  const fields = (one) => {
    const body = meant(one.requestBody?.content["application/json"]?.schema);
    return [...(one.parameters ?? []).map((p) => row(p.name, p.in, p.schema, p.required)),
      ...Object.entries(body.properties ?? {}).map(([name, schema]) => row(name, "body", schema, body.required?.includes(name)))];
  };
  const sections = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => {
    const rows = fields(one);
    return html("section", {}, html("h2", {}, html("code", {}, `${method.toUpperCase()} ${path}`)), html("p", {}, one.description),
      rows.length > 0 && html("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": "fields"}, html("table", {}, html("thead", {}, html("tr", {}, ["field", "where", "type", "meaning"].map((name) => html("th", {scope: "col"}, name)))), html("tbody", {}, rows))));
  }));
  document.getElementById("page").append(html("header", {class: "top alone"}, html("h1", {}, `Requests to ${api.info.title} ${api.info.version}`)),
    html("main", {}, sections, html("p", {class: "soft"}, html("a", {href: "/"}, "Try a model"), " · ", html("a", {href: "/openapi.json"}, "the same for programs"))));
}

document.addEventListener("DOMContentLoaded", start);
