"use strict";
// The filter, and what follows it: every figure and table is made anew of the rows that fit.

const chosen = new Set(); // collectives; none: all
const text = document.getElementById("text"), axis = document.getElementById("axis");

// The words of a row that the text of the filter is looked for in.
function words(row) {
  const rank = row.rank === undefined ? "" : `rank ${row.rank}`;
  return [row.operation, row.size, row.site, row.communicator, row.host, rank].join(" ").toLowerCase();
}
const ofChosen = (rows) => rows.filter((row) => !chosen.size || chosen.has(row.operation));
function fitting(rows) {
  const wanted = text.value.trim().toLowerCase();
  return ofChosen(rows).filter((row) => words(row).includes(wanted));
}

// Sums of all numbers over the rows with the same key; of other fields the first row's. Most of `by` comes first.
function grouped(rows, key, by) {
  const groups = new Map();
  for (const row of rows) {
    const known = groups.get(key(row));
    if (!known) {
      groups.set(key(row), { ...row, algorithms: { ...row.algorithms }, factors: { ...row.factors } });
      continue;
    }
    for (const name of ["calls", "inside", "waiting", "after_last", "lag", "imbalance", "last", "lateness",
                        "squared_lateness", "caused", "waited", "seconds"]) {
      if (name in known) known[name] += row[name];
    }
    for (const [name, calls] of Object.entries(row.algorithms ?? {})) {
      known.algorithms[name] = (known.algorithms[name] ?? 0) + calls;
    }
    for (const [name, [total, calls]] of Object.entries(row.factors ?? {})) {
      const [before, others] = known.factors[name] ?? [0, 0];
      known.factors[name] = [before + total, others + calls];
    }
  }
  return [...groups.values()].sort((one, other) => other[by] - one[by]);
}

// Each rank, with the call site at which it caused most.
function stragglers() {
  const rows = fitting(data.blame), sites = grouped(rows, (row) => JSON.stringify([row.rank, row.site]), "caused");
  const most = new Map();
  for (const row of sites) if (!most.has(row.rank)) most.set(row.rank, row.caused > 0 ? row.site : "-");
  return grouped(rows, (row) => row.rank, "caused").map((row) => ({ ...row, most: most.get(row.rank) }));
}

function drawShares(kinds) {
  const byCalls = grouped(kinds, (row) => row.operation, "calls"), byTime = grouped(kinds, (row) => row.operation, "inside");
  const calls = byCalls.reduce((sum, row) => sum + row.calls, 0);
  bars("calls", byCalls.map((row) => row.operation),
    [{ name: "", color: byCalls.map((row) => collectiveColour(data.collectives.indexOf(row.operation))),
       values: byCalls.map((row) => row.calls) }],
    byCalls.map((row) => `${count(row.calls)} (${percent(row.calls, calls)})`), NUMBERS, count);
  const parts = [
    { name: "waiting", color: colour("--idle"), values: byTime.map((row) => row.waiting) },
    { name: "after the last", color: colour("--work"), values: byTime.map((row) => row.after_last) },
    { name: "non-blocking", color: colour("--unknown"),
      values: byTime.map((row) => (row.waiting + row.after_last > 0 ? 0 : row.inside)) },
  ];
  bars("time", byTime.map((row) => row.operation), parts,
    byTime.map((row) => `${seconds(row.inside)} (${percent(row.inside, data.run_time)})`),
    SECONDS, seconds);
  sizeBars("size-calls", kinds, "calls", NUMBERS, count);
  sizeBars("size-time", kinds, "inside", SECONDS, seconds);
  fill("operations", byTime);
  fill("sizes", grouped(kinds, (row) => JSON.stringify([row.operation, row.size]), "inside"));
  fill("sites", grouped(kinds, (row) => JSON.stringify([row.operation, row.site]), "inside"));
  document.getElementById("shown").value =
    `${count(calls)} of ${count(data.kinds.reduce((sum, row) => sum + row.calls, 0))} calls`;
}

function drawSample() {
  const sample = fitting(data.sample);
  dots("imbalance", sample, "imbalance", axis.value);
  dots("lag", sample, "lag", axis.value);
}

function drawHistories() {
  const rows = fitting(data.histories);
  histories("histories", rows);
  fill("phases", rows.filter((row) => row.phases.length > 1)
    .flatMap(({ operation, site, phases }) => phases.map((phase) => ({ operation, site, ...phase }))));
}

function drawAll() {
  drawShares(fitting(data.kinds));
  drawSample();
  drawHistories();
  const ranks = stragglers(), states = grouped(ofChosen(data.states), (row) => row.state, "seconds");
  const inside = ofChosen(data.kinds).reduce((sum, row) => sum + row.inside, 0);
  stragglerBars("stragglers", ranks);
  bars("states", states.map((row) => row.state),
    [{ name: "", color: colour("--work"), values: states.map((row) => row.seconds) }],
    states.map((row) => `${seconds(row.seconds)} (${percent(row.seconds, inside)})`), SECONDS, seconds);
  fill("ranks", ranks);
  fill("worst", fitting(data.worst));
  if (data.savings.length) fill("savings", fitting(data.savings));
}

function chip(name, index) {
  const button = element("button", name), dot = document.createElement("i");
  dot.style.background = `var(--c${index % 8})`;
  button.prepend(dot);
  button.ariaPressed = "false";
  button.addEventListener("click", () => {
    button.ariaPressed = String(!chosen.delete(name));
    if (button.ariaPressed === "true") chosen.add(name);
    drawAll();
  });
  return button;
}

document.getElementById("chips").append(...data.collectives.map(chip));
let pending = 0;
text.addEventListener("input", () => { // thousands of dots take longer to draw than a key to press
  clearTimeout(pending);
  pending = setTimeout(drawAll, 200);
});
axis.addEventListener("change", drawSample);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
drawAll();
