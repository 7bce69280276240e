// Elements of HTML and SVG. Text is only ever set as text, never as markup.

function element(make, name, attributes, children) {
  const made = make(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) made.append(child);
  }
  return made;
}

const html = (name, attributes, ...children) =>
  element((n) => document.createElement(n), name, attributes, children);
const svg = (name, attributes, ...children) =>
  element((n) => document.createElementNS("http://www.w3.org/2000/svg", n), name, attributes, children);

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;
const whole = (number) => number.toLocaleString("en");
const number = (value) =>
  value === null || value === undefined ? "–" :
  value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6) ? value.toExponential(2) :
  String(+value.toPrecision(4));

const brush = document.createElement("canvas").getContext("2d");
const widths = new Map();
function textWidth(text, size) {
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    brush.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(key, brush.measureText(text).width);
  }
  return widths.get(key);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const runsLeft = (words) => words.filter((word) => RIGHT_TO_LEFT.test(word)).length * 2 > words.length;

// Labels that follow each other in the list have colours far apart.
const hues = new Map();
function hue(label) {
  if (!hues.has(label)) hues.set(label, Math.round(210 + hues.size * 137.508) % 360);
  return hues.get(label);
}
const chip = (text, label, kind, ...more) =>
  html("span", {class: `chip ${kind || ""}`, style: `--h:${hue(label)}`, dir: "auto"}, text, more);
