"use strict";
const PAGE = 24;
const { answers, missing } = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const gone = new Set(missing);
const filters = {
  outcome: ["All outcomes", (value) => value],
  ability: ["All abilities", (value) => value.split("/").join(" · ")],
  format: ["All formats", (value) => value.replace("_", " / ")],
  status: ["All statuses", (value) => value.replace("_", " ")],
};
let shown = 0;

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function number(value) {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value);
}

function words(value) {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return `[${value.map(words).join(", ")}]`;
  if (typeof value === "object") return Object.entries(value).map(([key, item]) => `${key} ${words(item)}`).join(", ");
  return number(value);
}

function percent(share) {
  return `${number(Math.round(1000 * share) / 10)} %`;
}

function picture(entry, caption) {
  if (gone.has(entry.path)) return make("span", "note", `${caption}: the picture is not there any more`);
  const image = make("img");
  image.src = `../${entry.path}`;
  image.alt = image.title = caption;
  image.loading = "lazy";
  if (entry.size_px) [image.width, image.height] = entry.size_px;
  image.style.height = "auto";
  image.addEventListener("click", () => {
    by("zoom").firstElementChild.src = image.src;
    by("zoom").firstElementChild.alt = caption;
    by("zoom").showModal();
  });
  return image;
}

function photos(question) {
  const entries = question.media.filter((entry) => !entry.option);
  const row = make("div", "photos");
  row.style.setProperty("--n", Math.min(4, entries.length));
  entries.forEach((entry, index) => {
    const time = entry.times_s ? ` · ${entry.times_s[0].toFixed(2)} s` : "";
    const name = entry.kind === "frames" ? `photo ${index + 1}${time}` : "map";
    const caption = entry.kind === "frames" && entries.length > 2 ? String(index + 1) : name;
    row.append(make("figure", "", picture(entry, name), make("figcaption", "", caption)));
  });
  return entries.length ? row : null;
}

function options(answer) {
  const question = answer.question;
  if (!question.options.length) return null;
  const drawn = new Map(question.media.filter((entry) => entry.option).map((entry) => [entry.id, entry]));
  const list = make("ol", drawn.size ? "options pictures" : "options");
  question.options.forEach((option, index) => {
    const letter = String.fromCharCode(65 + index);
    const right = letter === question.answer;
    const said = letter === answer.said;
    const note = [said ? "said" : "", right ? "right" : ""].filter(Boolean).join(", ");
    const item = make("li", `${right ? "right" : ""}${said ? " said" : ""}`, make("b", "", letter));
    const entry = drawn.get(option);
    item.append(entry ? picture(entry, `option ${letter}`) : make("span", "", option));
    if (note) item.append(make("em", "", note));
    list.append(item);
  });
  return list;
}

function verdict(answer) {
  const rows = make("dl", "verdict");
  const add = (label, value, className) => rows.append(make("dt", "", label), make("dd", className, value));
  const question = answer.question;
  const unit = question && question.unit ? ` ${question.unit}` : "";
  const how = { tags: "where it was asked for", rules: "by rules, in the text", judge: "by a language model" }[answer.how];
  if (answer.status === "answered") add("said", `${words(answer.said)}${how ? ` (found ${how})` : ""}`);
  else add("said", answer.status.replace("_", " "), "bad");
  if (question) {
    const label = question.margin !== null || question.tolerance === null || question.options.length;
    add("right", `${words(question.answer)}${unit}${label ? "" : `, within ±${words(question.tolerance)}${unit}`}`, "good");
  }
  add("score", `${percent(answer.score)}${answer.chance ? `, a guess expects ${percent(answer.chance)}` : ""}`);
  for (const [key, value] of Object.entries(answer.detail)) add(key.replaceAll("_", " "), words(value));
  return rows;
}

function response(answer) {
  if (answer.response === null) return null;
  const text = make("div", "said-text", answer.response || "(an empty reply)");
  text.tabIndex = 0;
  text.setAttribute("aria-label", "Response");
  if (answer.cut) text.append(make("div", "soft", `… and ${answer.cut} characters more`));
  return text;
}

function particulars(answer) {
  const question = answer.question;
  const rows = make("dl", "facts");
  const add = (label, value) => rows.append(make("dt", "", label), make("dd", "", value));
  if (question) {
    add("measured", `${words(question.value)}${question.sigma === null ? "" : `, σ ${words(question.sigma)}`}`);
    if (question.margin !== null) add("decided by", `${number(question.margin)} σ`);
    for (const [label, value] of Object.entries(question.evidence)) add(label.replaceAll("_", " "), words(value));
    add("clip", question.clip);
  }
  if (answer.seconds !== null) add("took", `${number(answer.seconds)} s`);
  if (answer.tokens !== null) add("tokens", String(answer.tokens));
  if (answer.rotation) add("rotation", `options moved up by ${answer.rotation}`);
  add("question", answer.id);
  return make("details", "", make("summary", "", "Evidence"), rows);
}

function others(answer) {
  const entries = Object.entries(answer.others);
  if (!entries.length) return null;
  const tags = make("p", "tags");
  tags.style.marginTop = ".5rem";
  for (const [name, score] of entries)
    tags.append(make("span", `tag ${score >= 1 ? "good" : score > 0 ? "" : "bad"}`, `${score >= 1 ? "✓" : score > 0 ? percent(score) : "✗"} ${name}`));
  return make("details", "", make("summary", "", `Other runs: ${entries.filter(([, score]) => score >= 1).length} of ${entries.length} right`), tags);
}

function card(answer) {
  const [, branch, leaf] = answer.ability.split("/");
  const tags = make("div", "tags", make("span", "tag blue", `${branch} · ${leaf}`));
  tags.append(make("span", "tag", answer.format.replace("_", " / ")), make("span", "tag", answer.template));
  const question = answer.question;
  const body = make("article", `card q ${answer.outcome}`, question && photos(question), tags);
  body.append(make("p", "prompt", question ? question.prompt : `Question ${answer.id}`));
  body.append(...[question && options(answer), verdict(answer), response(answer), particulars(answer), others(answer)].filter(Boolean));
  return body;
}

function chosen() {
  const wanted = Object.keys(filters).filter((key) => by(key).value);
  return answers.filter((answer) => wanted.every((key) => answer[key] === by(key).value));
}

function showMore() {
  const found = chosen();
  by("cards").append(...found.slice(shown, shown + PAGE).map(card));
  shown = Math.min(shown + PAGE, found.length);
  by("count").textContent = `${found.length} answer${found.length === 1 ? "" : "s"}`;
  by("more").hidden = shown >= found.length;
}

function restart() {
  by("cards").replaceChildren();
  shown = 0;
  showMore();
}

function fill(key) {
  const counts = new Map();
  for (const answer of answers) counts.set(answer[key], (counts.get(answer[key]) || 0) + 1);
  by(key).append(new Option(filters[key][0], ""));
  for (const value of [...counts.keys()].sort()) by(key).append(new Option(`${filters[key][1](value)} (${counts.get(value)})`, value));
  by(key).addEventListener("change", restart);
}

function readAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(filters)) by(key).value = wanted.get(key) || "";
  if (!location.hash && answers.some((answer) => answer.outcome === "wrong")) by("outcome").value = "wrong";
  restart();
}

Object.keys(filters).forEach(fill);
by("run").addEventListener("change", () => (location.href = by("run").value + location.hash));
by("more").addEventListener("click", showMore);
by("zoom").addEventListener("click", () => by("zoom").close());
window.addEventListener("hashchange", readAddress);
readAddress();
