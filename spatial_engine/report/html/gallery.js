"use strict";
const PAGE = 24;
const { questions, clips } = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const filters = { leaf: "ability", format: "format", clip: "clip" };
let shown = 0;

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function clipName(id) {
  return clips[id] ? clips[id].name : id;
}

function number(value) {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value);
}

function words(value) {
  if (value === null) return "not known";
  if (Array.isArray(value)) return `[${value.map(words).join(", ")}]`;
  if (typeof value === "object") return Object.entries(value).map(([key, item]) => `${key} ${words(item)}`).join(", ");
  return number(value);
}

function picture(entry, caption) {
  const image = make("img");
  image.src = entry.path;
  image.alt = image.title = caption;
  image.loading = "lazy";
  [image.width, image.height] = entry.size_px;
  image.style.height = "auto";
  image.addEventListener("click", () => {
    by("zoom").firstElementChild.src = entry.path;
    by("zoom").showModal();
  });
  return image;
}

function photos(question) {
  const entries = question.media.filter((entry) => !entry.option);
  const row = make("div", "photos");
  row.style.setProperty("--n", entries.length > 4 ? 4 : entries.length);
  entries.forEach((entry, index) => {
    const time = entry.times_s ? ` · ${entry.times_s[0].toFixed(2)} s` : "";
    const name = entry.kind === "frames" ? `photo ${index + 1}${time}` : "map";
    const caption = entry.kind === "frames" && entries.length > 2 ? String(index + 1) : name;
    row.append(make("figure", "", picture(entry, name), make("figcaption", "", caption)));
  });
  return entries.length ? row : null;
}

function options(question) {
  if (!question.options.length) return null;
  const drawn = new Map(question.media.filter((entry) => entry.option).map((entry) => [entry.id, entry]));
  const list = make("ol", drawn.size ? "options pictures" : "options");
  question.options.forEach((option, index) => {
    const letter = String.fromCharCode(65 + index);
    const entry = drawn.get(option);
    const item = make("li", letter === question.answer ? "right" : "", make("b", "", letter));
    item.append(entry ? picture(entry, `option ${letter}`) : make("span", "", option));
    list.append(item);
  });
  return list;
}

function answer(question) {
  const unit = question.unit ? ` ${question.unit}` : "";
  const box = make("div", "answer", make("b", "", words(question.answer) + unit));
  const numeric = !["choice", "yes_no", "order"].includes(question.format);
  const parts = [];
  if (numeric) parts.push(`right within ±${words(question.tolerance)}${unit}`);
  if (numeric) parts.push(`measured ${words(question.value)}, σ ${words(question.sigma)}${unit}`);
  if (!numeric && question.sigma !== null) parts.push(`σ ${words(question.sigma)}, tolerance ${words(question.tolerance)}`);
  if (question.margin !== null) parts.push(`decided by ${number(question.margin)} σ`);
  if (parts.length) box.append(make("div", "soft", parts.join(" · ")));
  return box;
}

function particulars(question) {
  const rows = make("dl", "facts");
  const add = (label, value) => rows.append(make("dt", "", label), make("dd", "", value));
  for (const [label, value] of Object.entries(question.evidence)) add(label.replaceAll("_", " "), words(value));
  const page = clips[question.clip] && clips[question.clip].page;
  const link = make("a", "", clipName(question.clip));
  if (page) link.href = page;
  rows.append(make("dt", "", "clip"), make("dd", "", link));
  add("experts", [...new Set(question.provenance.map((maker) => `${maker.expert} ${maker.version}`))].join(", "));
  add("licence of the footage", String(question.licence.footage));
  add("question, fact", `${question.id}, ${question.fact_id}`);
  const record = make("details", "", make("summary", "", "Record"), make("pre", "", JSON.stringify(question, null, 1)));
  return make("details", "", make("summary", "", "Evidence"), rows, record);
}

function card(question) {
  const [, branch, leaf] = question.ability.split("/");
  const tags = make("div", "tags", make("span", "tag blue", `${branch} · ${leaf}`));
  tags.append(make("span", "tag", question.format.replace("_", " / ")), make("span", "tag", question.template));
  const reveal = make("button", "", "Show answer");
  const body = make("article", "card q", photos(question), tags, make("p", "prompt", question.prompt));
  body.append(...[options(question), answer(question), reveal, particulars(question)].filter(Boolean));
  const turn = (open) => {
    body.classList.toggle("open", open);
    reveal.textContent = open ? "Hide answer" : "Show answer";
  };
  reveal.style.marginBottom = ".6rem";
  reveal.addEventListener("click", () => turn(!body.classList.contains("open")));
  turn(by("all").checked);
  return body;
}

function chosen() {
  const wanted = Object.entries(filters).filter(([id]) => by(id).value);
  return questions.filter((question) => wanted.every(([id, key]) => question[key] === by(id).value));
}

function showMore() {
  const found = chosen();
  by("cards").append(...found.slice(shown, shown + PAGE).map(card));
  shown = Math.min(shown + PAGE, found.length);
  by("count").textContent = `${found.length} question${found.length === 1 ? "" : "s"}`;
  by("more").hidden = shown >= found.length;
}

function restart() {
  by("cards").replaceChildren();
  shown = 0;
  showMore();
}

function fill(id, label) {
  const key = filters[id];
  const values = [...new Set(questions.map((question) => question[key]))].sort();
  by(id).append(new Option(label, ""));
  for (const value of values) by(id).append(new Option(id === "clip" ? clipName(value) : value.replace("_", " / "), value));
  by(id).addEventListener("change", restart);
}

function readAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const id of Object.keys(filters)) by(id).value = wanted.get(id) || "";
  restart();
}

fill("leaf", "All abilities");
fill("format", "All formats");
fill("clip", "All clips");
by("more").addEventListener("click", showMore);
by("all").addEventListener("change", restart);
by("zoom").addEventListener("click", () => by("zoom").close());
window.addEventListener("hashchange", readAddress);
readAddress();
