"use strict";
const by = (id) => document.getElementById(id);
const VERDICTS = [
  ["right", "Right", "the recorded answer holds"],
  ["wrong", "Wrong", "it does not"],
  ["undecided", "Cannot be decided", "these pictures do not tell"],
  ["bad", "The question is bad", "unclear, ambiguous, or ill put"],
];
const STEP_PX = 10;
let screen = null; // the server's last word
let busy = false;
let note = "";
let noting = false;
let evidence = null;
let form = ""; // "corrected" or "written" while an item is typed
let aim = null; // crosshair, in pixels of the full-size frame

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function drawn(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function words(value) {
  if (value === null || value === undefined) return "not known";
  if (typeof value === "number") return String(Number.isInteger(value) ? value : Number(value.toPrecision(4)));
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value.actions) && Array.isArray(value.step_nums)) {
    return value.actions.map((action, index) => `${action} ${value.step_nums[index]}`).join(", ");
  }
  return Object.entries(value).map(([key, item]) => `${key} ${words(item)}`).join(", ");
}

function complain(text) {
  by("trouble").textContent = text;
  by("trouble").hidden = !text;
}

function refused(reason) {
  complain(reason);
  const field = by("panel").querySelector("input");
  if (field && !form) field.select();
}

async function send(place, body) {
  if (busy) return;
  busy = true;
  try {
    const asked = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const reply = await fetch(place, asked);
    const content = await reply.json();
    if (reply.status === 409) complain("Another tab went on; this is where it is.");
    else if (!reply.ok) return refused(content.error);
    else {
      complain("");
      if (place === "item") form = "";
    }
    if (content.evidence) evidence = content.evidence;
    else take(content);
    draw();
  } catch {
    complain("Not saved: the command no longer runs. Start it again and open the new address.");
  } finally {
    busy = false;
  }
}

function take(next) {
  const before = screen && screen.item ? `${screen.item.id} ${Boolean(screen.recorded)}` : "";
  screen = next;
  if (before === (screen.item ? `${screen.item.id} ${Boolean(screen.recorded)}` : "")) return;
  [note, noting, evidence, aim, form] = ["", false, null, null, ""];
  for (const [id, place] of screen.next) new Image().src = `picture/${id}/${place}`;
}

const typed = () => screen.item && !screen.recorded && !["choice", "yes_no"].includes(screen.item.format);
const photos = () => screen.item.pictures.filter((picture) => picture.kind === "frames");
const shots = () => [...screen.item.pictures, ...screen.item.options.filter((option) => option.picture).map((option) => option.picture)];

function draw() {
  by("progress").max = screen.total || 1;
  by("progress").value = screen.done;
  by("count").textContent = `${screen.done} of ${screen.total}`;
  by("main").classList.toggle("single", !screen.item);
  by("pictures").hidden = !screen.item;
  if (!screen.item) return drawEnd();
  const [, branch, leaf] = screen.item.ability.split("/");
  by("tags").replaceChildren(make("span", "tag blue", leaf ? `${branch} · ${leaf}` : screen.item.ability), make("span", "tag", screen.item.format.replace("_", " / ")), screen.third ? make("span", "tag", "third pass") : "");
  drawPictures();
  const asked = [make("p", screen.item.prompt.length > 400 ? "asked long" : "asked", screen.item.prompt), options()];
  const judged = screen.recorded ? [comparison(), ...itemsHere(), verdicts(), noteField(), evidenceBox()] : [fields()];
  const shown = form === "written" ? [itemForm()] : form ? [itemForm(), ...asked, comparison()] : [...asked, ...judged];
  by("panel").replaceChildren(...shown.filter(Boolean));
  by("panel").scrollTop = 0;
  drawKeys();
  const field = by("panel").querySelector("textarea, input");
  if (field) field.focus();
}

function drawEnd() {
  by("tags").replaceChildren();
  by("panel").replaceChildren(make("h1", "", screen.total ? "All judged" : "Nothing to judge"), make("p", "soft", "Everything is saved. Ctrl-C in the terminal writes it into the audit and the card, and prints the summary."));
  keys(screen.undoable ? [["⌫", "undo"]] : []);
}

function drawPictures() {
  const all = shots();
  const columns = all.length <= 1 ? 1 : all.length <= 4 ? 2 : all.length <= 9 ? 3 : 4;
  const letters = new Map(screen.item.options.map((option, index) => [option.picture && option.picture.place, String.fromCharCode(65 + index)]));
  let number = 0;
  by("pictures").style.setProperty("--columns", all.length === 2 && all[0].size_px[0] > 1.2 * all[0].size_px[1] ? 1 : columns);
  by("pictures").replaceChildren(
    ...all.map((picture) => {
      const seconds = screen.recorded ? screen.recorded.times_s[picture.place] : null; // times tell the order: not before the answer
      const time = seconds === null ? "" : ` · ${Number(seconds).toFixed(2)} s`;
      const letter = letters.get(picture.place);
      const caption = picture.option ? `option ${letter}` : picture.kind === "frames" ? `photo ${(number += 1)}${time}` : { video: "video", sheet: "drawing" }[picture.kind] || "map";
      const image = make(picture.kind === "video" ? "video" : "img");
      if (picture.kind === "video") Object.assign(image, { controls: true, loop: true, muted: true });
      image.src = `picture/${screen.item.id}/${picture.place}`;
      image.alt = caption;
      const shot = make("figure", `shot ${optionState(letter)}`, image, make("figcaption", "", caption));
      image.addEventListener("error", () => shot.classList.add("lost"));
      if (screen.item.format === "point" && picture === photos().at(-1)) shot.append(overlay(picture));
      return shot;
    }),
  );
}

function optionState(letter) {
  if (!letter || !screen.recorded) return "";
  return [letter === screen.recorded.answer ? "recorded" : "", letter === screen.recorded.own ? "own" : ""].join(" ");
}

function overlay(picture) {
  const [width, height] = picture.frame_size_px;
  const canvas = drawn("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "xMidYMid meet", id: "overlay" });
  const add = (tag, kind, attributes) => canvas.append(drawn(tag, { class: "halo", ...attributes }), drawn(tag, { class: kind, ...attributes }));
  const own = screen.recorded ? screen.recorded.own : aim;
  const arm = width / 30;
  if (Array.isArray(own)) add("path", "aim", { d: `M${own[0] - arm} ${own[1]}h${2 * arm}M${own[0]} ${own[1] - arm}v${2 * arm}` });
  if (screen.recorded && Array.isArray(screen.recorded.answer)) {
    const [cx, cy] = screen.recorded.answer;
    add("circle", "true", { cx, cy, r: screen.recorded.tolerance || width / 100 });
  }
  return canvas;
}

function options() {
  const item = screen.item;
  if (item.format === "yes_no" && !screen.recorded) return make("ol", "options", ...["yes", "no"].map((word) => make("li", "", make("kbd", "", word[0].toUpperCase()), word)));
  if (!item.options.length) return null;
  return make("ol", "options", ...item.options.map((option, index) => {
    const letter = String.fromCharCode(65 + index);
    const state = optionState(letter);
    const role = state.includes("recorded") ? (state.includes("own") ? "recorded, and yours" : "recorded") : state.includes("own") ? "yours" : "";
    return make("li", state, make("kbd", "", letter), make("span", "", option.picture ? "the picture of this letter" : option.text), make("small", "", role));
  }));
}

function fields() {
  if (!typed()) return null;
  const { names, unit, format } = screen.item;
  const hints = { order: "numbers of the photos, as in 3 5 2 4", point: "x, y in pixels; or move the cross with the arrow keys", plan: "as the question says" };
  const wanted = names.length ? names : [""];
  return make("div", "typed", ...wanted.flatMap((name) => {
    const field = make("input");
    field.name = name;
    field.autocomplete = "off";
    field.placeholder = hints[format] || "";
    field.setAttribute("aria-label", name || "Your answer");
    if (format === "point" && aim) field.value = `${Math.round(aim[0])}, ${Math.round(aim[1])}`;
    return [make("label", "soft", name || "Your answer", unit && format !== "plan" ? ` (${unit})` : ""), field];
  }));
}

function comparison() {
  const { answer, within, own, blind, agrees } = screen.recorded;
  const unit = screen.item.unit && screen.item.format !== "plan" ? ` ${screen.item.unit}` : "";
  const reach = within ? make("small", "", `  right: ${within}`) : "";
  const verdict = agrees === true ? "tag good" : agrees === false ? "tag bad" : "";
  const yours = make("dd", "", own === null ? "could not tell" : words(own) + unit, verdict ? make("span", verdict, agrees ? "same" : "differs") : "", blind ? "" : make("small", "", "  not blind"));
  if (yours.querySelector(".tag")) yours.querySelector(".tag").before("  ");
  return make("dl", "compare", make("dt", "", "Recorded"), make("dd", "", words(answer) + unit, reach), make("dt", "", "You"), yours);
}

function verdicts() {
  return make("ol", "verdicts", ...VERDICTS.map(([, label, meaning], index) => make("li", "", make("kbd", "", String(index + 1)), make("b", "", label), make("span", "", meaning))));
}

function noteField() {
  if (!noting) return note ? make("p", "note", note) : null;
  const field = make("input");
  field.value = note;
  field.maxLength = 2000;
  field.placeholder = "short note; Enter keeps it, Esc drops it";
  field.setAttribute("aria-label", "Note");
  return field;
}

const itemsHere = () => screen.recorded.items.map((text) => make("p", "note", text));
const correctable = () => screen.recorded.formats.includes(screen.item.format);

/* The words of a question to correct, or those of a new one over its media. */
function itemForm() {
  const { item, recorded } = screen;
  const corrects = form === "corrected";
  const choose = (names) => make("select", "", ...Object.entries(names).map(([value, text]) => new Option(text, value)));
  const leaves = Object.fromEntries(recorded.leaves.map((leaf) => [leaf, leaf]));
  const formats = Object.fromEntries(recorded.formats.map((format) => [format, format.replace("_", " / ")]));
  const texts = item.options.every((option) => "text" in option) ? item.options.map((option) => option.text).join("\n") : null;
  const rows = [
    ["ability", !corrects && choose(leaves), item.ability],
    ["format", !corrects && choose(formats), "choice"],
    ["prompt", make("textarea"), corrects ? recorded.words : ""],
    ["options", !(corrects && (item.format !== "choice" || texts === null)) && make("textarea"), corrects ? texts : "", "one a line, without letters"],
    ["answer", make("input"), corrects ? recorded.answer : "", corrects ? "" : "letter, yes or no, or number"],
    ["unit", !corrects && choose({ "": "none", ...recorded.units }), ""],
    ["tolerance", !corrects && make("input"), "", "error that still counts as right; 0 for a count"],
    ["reason", make("input"), "", corrects ? "why" : "why it is asked; may be empty"],
  ].filter(([, node]) => node);
  const box = make("form", "typed", ...rows.map(([name, node, value, hint]) => {
    Object.assign(node, { name, value, placeholder: hint || "", autocomplete: "off" });
    return make("label", "soft", name, node);
  }));
  const wanted = { options: "choice", unit: "numeric", tolerance: "numeric" };
  const fit = () => [...box.elements].forEach((node) => (node.parentNode.hidden = !corrects && wanted[node.name] !== undefined && wanted[node.name] !== box.elements.format.value));
  box.addEventListener("change", fit);
  fit();
  return box;
}

function formValues() {
  const given = Object.fromEntries([...by("panel").querySelector("form").elements].map((node) => [node.name, node.value]));
  return { ...given, options: (given.options || "").split("\n").filter((line) => line.trim()), id: screen.item.id, change: form };
}

/* Enter begins a line in a text of several lines, and does nothing elsewhere. */
function inForm({ key, ctrlKey, metaKey, target }) {
  if (key === "Escape") (form = ""), complain(""), draw();
  else if (key === "Enter" && (ctrlKey || metaKey)) send("item", formValues());
  else return key === "Enter" && !(target instanceof HTMLTextAreaElement);
  return true;
}

function evidenceBox() {
  if (!evidence) return null;
  const rows = Object.entries(evidence).flatMap(([name, value]) => [make("dt", "", name.replaceAll("_", " ")), make("dd", "", words(value))]);
  return make("dl", "facts", ...rows);
}

function keys(pairs) {
  by("keys").replaceChildren(...pairs.map(([key, meaning]) => make("span", "", make("kbd", "", key), ` ${meaning}`)));
}

function drawKeys() {
  const undo = screen.undoable ? [["⌫", "undo"]] : [];
  if (form) return keys([["Ctrl Enter", "save"], ["Tab", "next field"], ["Esc", "drop it"]]);
  if (screen.recorded) return keys(noting ? [["Enter", "keep the note"], ["Esc", "drop it"]] : [["1–4", "verdict"], ["N", "note"], ["E", "evidence"], ...(correctable() ? [["C", "correct"]] : []), ["W", "write a new one"], ["+", "zoom"], ["PgDn", "later"], ...undo]);
  const last = String.fromCharCode(64 + screen.item.options.length);
  const first = screen.item.format === "choice" ? [[`A–${last}`, "your answer"]] : screen.item.format === "yes_no" ? [["Y", "yes"], ["N", "no"]] : [["Enter", "your answer"], ...(screen.item.format === "point" ? [["←↑↓→", "cross, Shift: fine"]] : [])];
  keys([...first, ["Shift Enter", "cannot tell"], ["+", "zoom"], ["PgDn", "later"], ...undo]);
}

function ownText() {
  const inputs = [...by("panel").querySelectorAll("input")];
  if (!screen.item.names.length) return inputs[0].value.trim();
  return JSON.stringify(Object.fromEntries(inputs.map((field) => [field.name, field.value.trim() === "" ? null : Number(field.value)])));
}

/* The first of several fields that still wants a number. */
function emptyField() {
  const inputs = [...by("panel").querySelectorAll("input")];
  return inputs.length > 1 ? inputs.find((field) => field.value.trim() === "") : undefined;
}

function moveAim(key, fine) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const picture = photos().at(-1);
  if (!picture) return;
  const [width, height] = picture.frame_size_px;
  const typedPair = ownText().split(/[\s,]+/).map(Number);
  const from = typedPair.length === 2 && typedPair.every(Number.isFinite) ? typedPair : aim || [width / 2, height / 2];
  const step = fine ? 1 : STEP_PX;
  aim = [Math.min(width - 1, Math.max(0, from[0] + dx * step)), Math.min(height - 1, Math.max(0, from[1] + dy * step))];
  by("panel").querySelector("input").value = `${Math.round(aim[0])}, ${Math.round(aim[1])}`;
  by("overlay").replaceWith(overlay(picture));
}

function zoom(move) {
  const images = [...by("pictures").querySelectorAll("img")];
  if (!images.length) return;
  const shown = by("zoom").open ? Number(by("zoom").dataset.index) : 0;
  const index = (shown + move + images.length) % images.length;
  by("zoom").dataset.index = index;
  by("zoom").firstElementChild.src = images[index].src;
  by("zoom").firstElementChild.alt = images[index].alt;
  if (!by("zoom").open) by("zoom").showModal();
}

function inZoom(key) {
  if (key === "ArrowRight" || key === "ArrowDown") zoom(1);
  else if (key === "ArrowLeft" || key === "ArrowUp") zoom(-1);
  else if (["+", "=", "Escape", "Enter", " "].includes(key)) by("zoom").close();
}

function inNote(key) {
  if (key === "Enter") note = by("panel").querySelector("input").value.trim();
  else if (key === "Escape") note = "";
  else return false;
  noting = false;
  draw();
  return true;
}

/* Returns whether the key was ours. */
function press(event) {
  const { key } = event;
  if (by("zoom").open) return inZoom(key), true;
  if (noting) return inNote(key);
  if (form) return inForm(event);
  const empty = !(document.activeElement instanceof HTMLInputElement) || document.activeElement.value === "";
  if (empty && (key === "Backspace" || (key === "z" && event.ctrlKey))) return send("undo", {}), true;
  if (!screen.item || event.ctrlKey || event.metaKey || event.altKey) return false;
  const { id, format } = screen.item;
  if (key === "PageDown") return send("later", { id }), true;
  if (key === "+" && format !== "text") return zoom(0), true;
  return screen.recorded ? judging(key, id) : answering(event, id, format);
}

function judging(key, id) {
  const place = "1234".indexOf(key);
  if (key.length === 1 && place >= 0) send("verdict", { id, verdict: VERDICTS[place][0], note });
  else if (key.toLowerCase() === "n") (noting = true), draw();
  else if (key.toLowerCase() === "e") send("evidence", { id });
  else if (key.toLowerCase() === "c" && correctable()) (form = "corrected"), draw();
  else if (key.toLowerCase() === "w") (form = "written"), draw();
  else return false;
  return true;
}

function answering(event, id, format) {
  const { key, shiftKey } = event;
  const letter = key.length === 1 ? key.toUpperCase() : "";
  if (key === "Enter" && shiftKey) send("answer", { id, text: null });
  else if (format === "yes_no" && "YN".includes(letter) && letter) send("answer", { id, text: letter === "Y" ? "yes" : "no" });
  else if (format === "choice" && letter >= "A" && letter.charCodeAt(0) - 65 < screen.item.options.length) send("answer", { id, text: letter });
  else if (typed() && key === "Enter") emptyField() ? emptyField().focus() : send("answer", { id, text: ownText() });
  else if (format === "point" && key.startsWith("Arrow")) moveAim(key, shiftKey);
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (!screen || (event.repeat && !event.key.startsWith("Arrow") && !event.target.matches("input, textarea"))) return;
  if (event.repeat && event.key === "Backspace") return; // clearing a field must not run on into undo
  if (press(event)) event.preventDefault();
});
send("screen");
