"use strict";
/* Draws the cards of questions and of answers, and the menus that choose among them. */
const PAGE = 24;
const { cards = [], shards, filters, root = "", missing = [], clips = {} } = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const gone = new Set(missing);

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const number = (value) => (typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value));
const percent = (share) => `${number(Math.round(1000 * share) / 10)} %`;
const clipName = (id) => (clips[id] ? clips[id].name : id);

function words(value) {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return `[${value.map(words).join(", ")}]`;
  if (value.actions && value.step_nums) return value.actions.map((action, index) => `${action} ${value.step_nums[index]}`).join(", ");
  if (typeof value === "object") return Object.entries(value).map(([key, item]) => `${key} ${words(item)}`).join(", ");
  return number(value);
}

function definitions(className) {
  const list = make("dl", className);
  const add = (label, value, tone = "") => list.append(make("dt", "", label), make("dd", tone, value));
  return [list, add];
}

/* Pictures. A press shows one as large as the window; the arrow keys go on to the others of its card. */

function picture(entry, caption) {
  if (gone.has(entry.path)) return make("span", "note", `${caption}: the picture is not there any more`);
  if (entry.kind === "video") return video(entry, caption);
  const image = make("img");
  image.src = `${root}${entry.path}`;
  image.alt = caption;
  image.title = `${caption}: press to enlarge`;
  image.loading = "lazy";
  image.tabIndex = 0;
  image.setAttribute("role", "button");
  if (entry.size_px) [image.width, image.height] = entry.size_px;
  image.addEventListener("click", () => enlarge(image));
  image.addEventListener("keydown", (event) => event.key === "Enter" && enlarge(image));
  return image;
}

function video(entry, caption) {
  const player = make("video");
  Object.assign(player, { src: `${root}${entry.path}`, title: caption, controls: true, loop: true, muted: true, preload: "metadata" });
  return player;
}

function enlarge(image) {
  const images = [...image.closest("article").querySelectorAll("img")];
  const [large, caption] = by("zoom").children;
  const show = (next) => {
    large.src = next.src;
    large.alt = caption.textContent = next.alt;
    large.dataset.place = images.indexOf(next);
  };
  by("zoom").onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) show(images[(Number(large.dataset.place) + step + images.length) % images.length]);
  };
  show(image);
  by("zoom").showModal();
}

function columns(photos) {
  if (photos < 4) return Math.max(1, photos);
  return photos === 4 ? 2 : photos % 4 ? 3 : 4;
}

/* A photo with marks takes the whole width, or nobody could read them. */
function photos(question) {
  const entries = question.media.filter((entry) => !entry.option);
  const marked = (entry) => entry.kind !== "frames" || (entry.marks && entry.marks.length);
  const plain = entries.filter((entry) => !marked(entry)).length;
  const row = make("div", "photos");
  row.style.setProperty("--n", columns(plain));
  entries.forEach((entry, index) => {
    const time = entry.times_s ? make("span", "time", ` · ${entry.times_s[0].toFixed(2)} s`) : ""; // shown with the answer
    const caption = entry.kind === "frames" ? `photo ${index + 1}` : { video: "video", sheet: "drawing" }[entry.kind] || "map";
    row.append(make("figure", marked(entry) ? "marked" : "", picture(entry, caption), make("figcaption", "", caption, time)));
  });
  return entries.length ? row : null;
}

/* What is asked, and what is right. */

function options(question, answer) {
  if (!question.options.length) return null;
  const drawn = new Map(question.media.filter((entry) => entry.option).map((entry) => [entry.id, entry]));
  const list = make("ol", drawn.size ? "options pictures" : "options");
  question.options.forEach((option, index) => {
    const letter = String.fromCharCode(65 + index);
    const right = letter === question.answer;
    const predicted = answer !== undefined && letter === answer.prediction;
    const entry = drawn.get(option);
    const item = make("li", `${right ? "right" : ""}${predicted ? " predicted" : ""}`, make("b", "", letter));
    item.append(entry ? picture(entry, `option ${letter}`) : make("span", "", option));
    if (answer !== undefined) item.append(make("em", "", [predicted ? "model's answer" : "", right ? "right" : ""].filter(Boolean).join(", ")));
    list.append(item);
  });
  return list;
}

const unitOf = ({ unit }) => (unit === "deg" ? "°" : unit && unit !== "steps" ? ` ${unit}` : "");

function target(question) {
  const parts = [
    question.within && `right: ${question.within}`,
    question.within && `measured ${words(question.value)}`,
    question.sigma !== null && `σ ${words(question.sigma)}${unitOf(question)}`,
    question.margin !== null && `decided by ${number(question.margin)} σ`,
  ];
  return make("div", "answer", make("b", "", words(question.answer) + unitOf(question)), make("div", "soft", parts.filter(Boolean).join(" · ")));
}

/* What was measured beside the question: shown to a model on request only. */
function hints(question) {
  if (!question.hints || !question.hints.length) return null;
  const words = make("ul", "soft", ...question.hints.flatMap((hint) => hint.text.map((text) => make("li", "", text))));
  const drawn = question.hints.flatMap((hint) => hint.pictures);
  const figures = drawn.map((entry) => make("figure", "", picture(entry, entry.text), make("figcaption", "", entry.text)));
  const kinds = question.hints.map((hint) => hint.kind).join(", ");
  return make("details", "", make("summary", "", `Hints: ${kinds}`), make("div", "hints", ...figures, words));
}

function evidence(card) {
  const [list, add] = definitions("facts");
  const { question, answer } = card;
  if (question) {
    if (answer) add("measured", `${words(question.value)}${question.sigma === null ? "" : `, σ ${words(question.sigma)}`}`);
    if (answer && question.margin !== null) add("decided by", `${number(question.margin)} σ`);
    for (const [label, value] of Object.entries(question.evidence)) add(label.replaceAll("_", " "), words(value));
    const link = make("a", "", clipName(question.clip));
    if (clips[question.clip] && clips[question.clip].page) link.href = clips[question.clip].page;
    add("clip", link.href ? link : clipName(question.clip));
    if (question.provenance) add("experts", [...new Set(question.provenance.map((maker) => `${maker.expert} ${maker.version}`))].join(", "));
    if (question.licence) add("licence of the footage", String(question.licence.footage));
    add("fact", question.fact_id);
  }
  if (answer && answer.seconds !== null) add("reply took", `${number(answer.seconds)} s`);
  if (answer && answer.tokens !== null) add("tokens of the reply", String(answer.tokens));
  if (answer && answer.rotation) add("rotation", `options moved up by ${answer.rotation}`);
  add("question", card.id);
  const record = question && question.provenance ? make("details", "", make("summary", "", "Record"), make("pre", "", JSON.stringify(question, null, 1))) : "";
  return make("details", "", make("summary", "", "Evidence"), list, record);
}

function reasoning({ question }) {
  if (!question || !question.reasoning) return null;
  return make("details", "", make("summary", "", "Reasoning"), make("p", "soft small", question.reasoning));
}

/* What a model answered. */

function verdict(card) {
  const [list, add] = definitions("verdict");
  const { question, answer } = card;
  const how = { tags: "where it was asked for", rules: "by rules, in the text", judge: "by a language model" }[answer.how];
  if (card.status === "answered") add("answered", `${words(answer.prediction)}${how ? ` (found ${how})` : ""}`);
  else add("answered", card.status.replace("_", " "), "bad");
  if (question) add("right", `${words(question.answer)}${unitOf(question)}${question.within ? `, ${question.within}` : ""}`, "good");
  add("score", `${percent(answer.score)}${answer.chance ? `; guessing scores ${percent(answer.chance)} on average` : ""}`);
  for (const [key, value] of Object.entries(answer.detail)) add(key.replaceAll("_", " "), words(value));
  return list;
}

function response(answer) {
  if (answer.response === null) return null;
  const text = make("div", "response", answer.response || "(an empty reply)");
  text.tabIndex = 0;
  text.setAttribute("aria-label", "Response");
  if (answer.cut) text.append(make("div", "soft", `… and ${answer.cut} characters more`));
  return text;
}

function others(answer) {
  const entries = Object.entries(answer.others);
  if (!entries.length) return null;
  const tags = make("p", "tags");
  for (const [name, score] of entries) tags.append(make("span", `tag ${score >= 1 ? "good" : score > 0 ? "" : "bad"}`, `${score >= 1 ? "✓" : score > 0 ? percent(score) : "✗"} ${name}`));
  return make("details", "", make("summary", "", `Other runs: ${entries.filter(([, score]) => score >= 1).length} of ${entries.length} right`), tags);
}

function revealer(body) {
  const button = make("button", "reveal");
  const turn = (open) => {
    body.classList.toggle("open", open);
    button.textContent = open ? "Hide answer" : "Show answer";
  };
  button.addEventListener("click", () => turn(!body.classList.contains("open")));
  turn(by("all").checked);
  return button;
}

function draw(card) {
  const { question, answer } = card;
  const [, branch, leaf] = card.ability.split("/");
  const tags = make("div", "tags", make("span", "tag blue", `${branch} · ${leaf}`));
  tags.append(make("span", "tag", card.format.replace("_", " / ")), make("span", "tag", card.template));
  const body = make("article", `card q ${answer ? `open ${card.outcome}` : ""}`, question && photos(question), tags);
  body.append(make("p", "prompt", question ? question.text : `Question ${card.id}`));
  const asked = question && options(question, answer);
  const known = question && hints(question);
  const parts = answer ? [asked, known, verdict(card), response(answer), evidence(card), others(answer)] : [asked, known, target(question), revealer(body), reasoning(card), evidence(card)];
  body.append(...parts.filter(Boolean));
  return body;
}

/* Where cards come from: the page itself, or scripts beside it with the cards of `size` questions each, of which
   the last few stay in memory. */

const SHARDS = {};
const loaded = new Map();
const { size, filters: index } = shards ? INDEX : { size: Math.max(1, cards.length), filters: indexed() };
const total = index[filters[0][0]].codes.length;

function indexed() {
  const found = {};
  for (const [key] of filters) {
    const values = [...new Set(cards.map((card) => card[key]))];
    found[key] = { values, codes: cards.map((card) => values.indexOf(card[key])) };
  }
  return found;
}

function script(source) {
  return new Promise((resolve, reject) => {
    const node = make("script");
    node.src = source;
    node.onload = () => resolve(node.remove());
    node.onerror = () => reject(new Error(`${source} cannot be read`));
    document.head.append(node);
  });
}

async function load(number) {
  if (!shards) return cards;
  await script(`${shards}/${String(number).padStart(5, "0")}.js`);
  const { shared, cards: found } = SHARDS[number];
  delete SHARDS[number];
  for (const card of found) Object.assign(card.question, shared[card.shared]);
  return found;
}

async function cardAt(place) {
  const number = Math.floor(place / size);
  const found = loaded.get(number) || load(number);
  loaded.delete(number);
  loaded.set(number, found);
  if (loaded.size > 2 * PAGE) loaded.delete(loaded.keys().next().value);
  return (await found)[place % size];
}

/* Menus, and pages. */

let places = [];
let turns = 0;

function choose() {
  const wanted = filters.filter(([key]) => by(key).value).map(([key]) => [index[key].codes, index[key].values.indexOf(by(key).value)]);
  places = [];
  for (let place = 0; place < total; place++) if (wanted.every(([codes, code]) => codes[place] === code)) places.push(place);
  by("count").textContent = count(places.length, shards ? "question" : "answer");
  turn(1);
}

async function turn(wanted) {
  const last = Math.max(1, Math.ceil(places.length / PAGE));
  const page = Math.min(Math.max(1, Math.trunc(wanted) || 1), last);
  const own = ++turns;
  by("page").value = page;
  by("page").max = by("pages").textContent = last;
  by("turning").hidden = last === 1;
  by("back").disabled = page === 1;
  by("next").disabled = page === last;
  const drawn = Promise.all(places.slice((page - 1) * PAGE, page * PAGE).map(cardAt)).then((found) => found.map(draw));
  const nodes = await drawn.catch((error) => [make("p", "note", error.message)]);
  if (own === turns) by("cards").replaceChildren(...nodes); // unless another page was asked for meanwhile
}

function turnBy(step) {
  turn(Number(by("page").value) + step);
  scrollTo({ top: 0 });
}

function label(key, value) {
  if (key === "clip") return clipName(value);
  return key === "ability" ? value.split("/").join(" · ") : value.replaceAll("_", key === "format" ? " / " : " ");
}

function fill([key, all]) {
  const { values, codes } = index[key];
  const counts = new Array(values.length).fill(0);
  for (const code of codes) counts[code] += 1;
  by(key).append(new Option(all, ""));
  const entries = values.map((value, code) => [value, `${label(key, value)} (${counts[code]})`]);
  for (const [value, text] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) by(key).append(new Option(text, value));
  by(key).addEventListener("change", choose);
}

function readAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const [key] of filters) by(key).value = wanted.get(key) || "";
  if (!location.hash && index.outcome && index.outcome.values.includes("wrong")) by("outcome").value = "wrong";
  choose();
}

filters.forEach(fill);
by("back").addEventListener("click", () => turnBy(-1));
by("next").addEventListener("click", () => turnBy(1));
by("page").addEventListener("change", () => turnBy(0));
by("zoom").addEventListener("click", () => by("zoom").close());
if (by("all")) by("all").addEventListener("change", () => turn(Number(by("page").value)));
if (by("run")) by("run").addEventListener("change", () => (location.href = by("run").value + location.hash));
window.addEventListener("hashchange", readAddress);
readAddress();
