"use strict";
// Tables that sort at a click on a heading. A column: [heading, value to sort by, value in words; for words none].

const order = {}; // table -> {column, down}

const TABLES = {
  operations: [["operation", (row) => row.operation], ...shareColumns(), ["what ran", ran]],
  sizes: [["operation", (row) => row.operation], ["size", (row) => row.size], ...shareColumns(),
    factorColumn("Ω/α", "worst"), factorColumn("Δ/α", "mean"),
    factorColumn("Ω/α in nodes", "node_worst"), factorColumn("Δ/α in nodes", "node_mean")],
  sites: [["operation", (row) => row.operation], ["called from", (row) => row.site], ...shareColumns()],
  ranks: [
    ["rank", (row) => row.rank, String],
    ["node", (row) => row.host],
    ["came last", (row) => row.last, (value, row) => `${count(value)} (${percent(value, row.calls)})`],
    ["late by", (row) => (row.lateness > 0 ? row.squared_lateness / row.lateness : 0), seconds],
    ["so many times", (row) => (row.lateness > 0 ? row.lateness ** 2 / row.squared_lateness : 0), count],
    ["wait it alone caused", (row) => row.caused, seconds],
    ["its own waiting", (row) => row.waited, seconds],
    ["most at", (row) => row.most],
  ],
  phases: [
    ["operation", (row) => row.operation],
    ["called from", (row) => row.site],
    ["from its call", (row) => row.first + 1, count],
    ["calls", (row) => row.calls, count],
    ["mean imbalance", (row) => row.level, seconds],
  ],
  savings: [
    ["operation", (row) => row.operation],
    ["ranks came", (row) => row.mostly],
    ["from bytes", (row) => row.from_bytes, count],
    ["calls", (row) => row.calls, count],
    ["by Stretto", (row) => row.ours / row.calls, (value, row) => percent(row.ours, row.calls)],
    ["native would take", (row) => row.native, seconds],
    ["saved", (row) => row.saved, (value, row) => `${seconds(value)} ± ${seconds(row.unsure)}`],
  ],
  worst: [
    ["operation", (row) => row.operation],
    ["communicator", (row) => row.communicator],
    ["call", (row) => row.sequence, count],
    ["bytes", (row) => row.bytes, count],
    ["called from", (row) => row.site],
    ["for rank", (row) => row.rank, String],
    ["late by", (row) => row.lateness, seconds],
    ["wait caused", (row) => row.caused, seconds],
  ],
};

function shareColumns() {
  const total = data.kinds.reduce((sum, row) => sum + row.inside, 0);
  return [
    ["calls", (row) => row.calls, count],
    ["time", (row) => row.inside, seconds],
    ["share", (row) => row.inside, (value) => percent(value, total)],
    // Nothing is known of waiting in non-blocking calls.
    ["of it waiting", (row) => (row.inside > 0 ? row.waiting / row.inside : 0), (value, row) => percent(value, row.waiting + row.after_last && 1)],
    ["mean imbalance", (row) => row.imbalance / row.calls, seconds],
    ["mean lag", (row) => row.lag / row.calls, seconds],
  ];
}

// The mean over the calls of which the factor is known. Below all others where it is known of none.
function factorColumn(heading, name) {
  const mean = (row) => { const [total, calls] = row.factors[name] ?? [0, 0]; return calls ? total / calls : -1; };
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return [heading, mean, (value) => (value < 0 ? "\u2013" : value.toLocaleString("en", digits))];
}

function ran(row) {
  const names = Object.entries(row.algorithms).sort((one, other) => other[1] - one[1]);
  return names.map(([name, calls]) => (names.length > 1 ? `${name} ${percent(calls, row.calls)}` : name)).join(", ");
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

function sortBy(id, rows, index) {
  const sorted = order[id]?.column === index;
  const down = sorted ? !order[id].down : Boolean(TABLES[id][index][2]);
  order[id] = { column: index, down };
  fill(id, rows);
  document.querySelectorAll(`#${id} th button`)[index].focus();
}

function fill(id, rows) {
  const table = document.getElementById(id), columns = TABLES[id], chosen = order[id];
  table.closest(".scroll").hidden = !rows.length;
  table.closest("section").querySelector(".nothing").hidden = rows.length > 0;
  const head = element("tr", "");
  columns.forEach(([heading, , format], index) => {
    const cell = element("th", "", format ? "" : "words"), button = element("button", heading);
    cell.scope = "col";
    if (chosen?.column === index) cell.ariaSort = chosen.down ? "descending" : "ascending";
    button.addEventListener("click", () => sortBy(id, rows, index));
    cell.append(button);
    head.append(cell);
  });
  const shown = [...rows];
  if (chosen) {
    const value = columns[chosen.column][1], sign = chosen.down ? -1 : 1;
    const compare = (one, other) => (typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true }));
    shown.sort((one, other) => sign * compare(value(one), value(other)));
  }
  const body = document.createElement("tbody");
  for (const row of shown) {
    const line = element("tr", "");
    for (const [heading, value, format] of columns) {
      const wide = ["called from", "what ran", "most at"].includes(heading);
      line.append(element("td", format ? format(value(row), row) : value(row), format ? "" : wide ? "words long" : "words"));
    }
    body.append(line);
  }
  const header = document.createElement("thead");
  header.append(head);
  table.replaceChildren(header, body);
}
