"use strict";
function order(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.v ?? cell.textContent;
  return value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function sortBy(table, head) {
  const column = head.cellIndex;
  const first = head.classList.contains("n") || column > 1 ? "descending" : "ascending";
  const next = { ascending: "descending", descending: "ascending" };
  const way = head.hasAttribute("aria-sort") ? next[head.getAttribute("aria-sort")] : first;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", way);
  const sign = way === "ascending" ? 1 : -1;
  for (const body of table.tBodies) {
    const rows = [...body.rows].sort((a, b) => sign * compare(order(a, column), order(b, column)));
    body.append(...rows);
  }
}

for (const table of document.querySelectorAll("table.sortable"))
  for (const head of table.tHead.rows[0].cells) head.firstElementChild.addEventListener("click", () => sortBy(table, head));

for (const key of document.querySelectorAll("[data-ink]"))
  key.addEventListener("change", () => {
    for (const same of document.querySelectorAll(`[data-ink="${key.dataset.ink}"]`)) same.checked = key.checked;
    for (const part of document.querySelectorAll(`[data-of="${key.dataset.ink}"]`)) part.style.display = key.checked ? "" : "none";
  });

const whose = document.getElementById("tree-of");
const trees = document.querySelectorAll("table.tree");
if (whose) whose.addEventListener("change", () => trees.forEach((tree, index) => (tree.style.display = index === Number(whose.value) ? "" : "none")));
