"use strict";
// The report's data, and its figures, drawn by Plotly from rows that the filter has let through. Times in seconds.

const data = JSON.parse(document.getElementById("data").textContent);

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const SYMBOLS = ["circle", "diamond", "square", "triangle-up", "cross", "x", "star", "hexagon"];
const collectiveColour = (index) => colour(`--c${index % 8}`);
// Plotly reads markup in labels: names from the program are to be shown as they are.
const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function seconds(value) {
  const size = Math.abs(value);
  if (!size) return "0";
  const [unit, scale] = [["s", 1], ["ms", 1e-3], ["\u00b5s", 1e-6]].find(([, limit]) => size >= limit) ?? ["ns", 1e-9];
  return `${Number((value / scale).toPrecision(3)).toLocaleString("en")} ${unit}`;
}
const count = (value) => Math.round(value).toLocaleString("en");
// The end of a text, which of a call site tells most.
const tail = (text, letters) => (text.length > letters ? `\u2026${text.slice(1 - letters)}` : text);
const percent = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "-");

// A finger that drags means to scroll.
const ZOOM = matchMedia("(pointer: coarse)").matches ? false : "zoom";

// An axis of seconds, with prefixes of SI, which stay right when the reader zooms.
const SECONDS = { tickformat: "~s", ticksuffix: "s", nticks: 6, rangemode: "tozero" };
const NUMBERS = { nticks: 6, rangemode: "tozero" };

// An axis for these values, logarithmic if they differ enough. Plotly's own labels of 2 and 5 would lack the unit.
function logarithmic(values) {
  const low = Math.min(...values), high = Math.max(...values), steps = high / low < 200 ? [1, 2, 5] : [1];
  if (high / low < 10) return { ...SECONDS, rangemode: "normal" };
  const tickvals = Array.from({ length: 15 }, (_, index) => steps.map((step) => step * 10 ** (index - 10))).flat();
  return { type: "log", tickvals, ticktext: tickvals.map((value) => seconds(value).replace(" ", "")) };
}

function draw(id, traces, layout, height) {
  const plot = document.getElementById(id), empty = !traces.some((trace) => trace.x.length);
  plot.hidden = empty;
  plot.parentElement.querySelector(".nothing").hidden = !empty;
  if (empty) return Plotly.purge(plot);
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line"),
                 automargin: true, fixedrange: !layout.dragmode };
  const full = {
    height, margin: { l: 10, r: 10, t: 8, b: 10 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("--ink") },
    hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--ink") }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--unknown"), activecolor: colour("--accent") },
    showlegend: false, dragmode: false, bargap: 0.35, ...layout,
    xaxis: axis, yaxis: axis,
  };
  for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) full[name] = { ...axis, ...layout[name] };
  return Plotly.react(plot, traces, full, { displaylogo: false, responsive: true,
    displayModeBar: Boolean(layout.dragmode), modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]] });
}

// Horizontal bars, the first on top. `parts`: [{name, color, values}], stacked; `labels` stand behind the bars;
// `format` puts a value in words.
function bars(id, names, parts, labels, axis, format) {
  const totals = names.map((_, row) => parts.reduce((sum, part) => sum + part.values[row], 0));
  const most = Math.max(0, ...totals), y = names.map(plain);
  const traces = parts.map((part) => ({ type: "bar", orientation: "h", name: part.name, x: part.values, y,
    marker: { color: part.color }, hovertemplate: "%{hovertext}<extra></extra>",
    hovertext: part.values.map((value, row) => `${y[row]}<br>${part.name ? part.name + ": " : ""}${format(value)}`) }));
  const annotations = names.map((_, row) => ({ x: totals[row], y: y[row], text: labels[row], showarrow: false,
    xanchor: "left", xshift: 4, font: { color: colour("--soft"), size: 12 } }));
  const room = innerWidth < 760 ? 2.3 : 1.5; // for the labels
  draw(id, names.length ? traces : [{ x: [] }], { barmode: "stack", annotations,
    xaxis: { ...axis, range: [0, most * room || 1] },
    yaxis: { type: "category", autorange: "reversed", showgrid: false, ticklabelstandoff: 6 } }, 54 + 38 * names.length);
}

// Vertical bars of the classes of message size, stacked in the colours of the collectives.
function sizeBars(id, rows, figure, axis, format) {
  const used = data.sizes.filter((size) => rows.some((row) => row.size === size)), totals = used.map(() => 0);
  const whole = rows.reduce((sum, row) => sum + row[figure], 0);
  const traces = data.collectives.map((operation, index) => {
    const values = used.map((size) => rows.filter((row) => row.size === size && row.operation === operation)
      .reduce((sum, row) => sum + row[figure], 0));
    values.forEach((value, place) => { totals[place] += value; });
    return { type: "bar", name: plain(operation), x: used, y: values, marker: { color: collectiveColour(index) },
      hovertemplate: "%{hovertext}<extra></extra>",
      hovertext: values.map((value, place) => `${plain(operation)}, ${used[place]}<br>${format(value)}`) };
  }).filter((trace) => trace.y.some((value) => value > 0));
  const most = Math.max(0, ...totals);
  const annotations = used.map((size, place) => ({ x: size, y: totals[place], showarrow: false, yanchor: "bottom",
    text: percent(totals[place], whole), font: { color: colour("--soft"), size: 12 } }));
  draw(id, traces, { barmode: "stack", annotations, xaxis: { type: "category", showgrid: false },
    yaxis: { ...axis, range: [0, most * 1.12 || 1] } }, 290);
}

// One dot a call. Nothing that is not above zero can stand on a logarithmic axis: the figure tells how many those are.
function dots(id, rows, figure, axis) {
  const traces = data.collectives.map((operation, index) => {
    const mine = rows.filter((row) => row.operation === operation && row[figure] > 0);
    return { type: "scatter", mode: "markers", name: plain(operation), x: mine.map((row) => row[axis]),
      y: mine.map((row) => row[figure]), hovertemplate: "%{hovertext}<extra></extra>",
      marker: { color: collectiveColour(index), symbol: SYMBOLS[index % 8], size: 6, opacity: 0.75 },
      hovertext: mine.map((row) => `${plain(row.operation)} ${count(row.sequence)} on ${plain(row.communicator)}<br>` +
        `${plain(row.site)}, ${count(row.bytes)} bytes<br>imbalance ${seconds(row.imbalance)}, ` +
        `lag ${seconds(row.lag)}<br>last: rank ${row.rank}, at ${seconds(row.at)}`) };
  }).filter((trace) => trace.x.length);
  const left = rows.filter((row) => row[figure] <= 0).length;
  draw(id, traces.length ? traces : [{ x: [] }], { dragmode: ZOOM,
    hovermode: "closest", yaxis: logarithmic(traces.flatMap((trace) => trace.y)),
    xaxis: { ...(axis === "at" ? SECONDS : NUMBERS), rangemode: "normal", showgrid: false, zeroline: false },
    annotations: left ? [{ xref: "paper", yref: "paper", x: 1, y: 1, yanchor: "bottom", xanchor: "right", showarrow: false,
      text: `${count(left)} calls at or below 0 are not drawn`, font: { color: colour("--soft"), size: 12 } }] : [],
    margin: { l: 10, r: 10, t: left ? 24 : 8, b: 10 } }, 330);
}

// A panel for each kind of call: a dot for the mean of each bin, lines for the levels of the phases. The axis of
// imbalance is the same for all, so that the eye can compare them.
function histories(id, rows) {
  const lines = Math.ceil(rows.length / (innerWidth < 760 ? 1 : 3)) || 1, columns = Math.ceil(rows.length / lines) || 1;
  const letters = (document.getElementById(id).parentElement.clientWidth - 90) / columns / 9; // of a title
  const axis = logarithmic(rows.flatMap((row) => row.means.filter((mean) => mean > 0)));
  const layout = { grid: { rows: lines, columns, pattern: "independent", xgap: 0.06, ygap: 0.36 }, annotations: [],
    hovermode: "closest", dragmode: ZOOM, margin: { l: 10, r: 10, t: 46, b: 10 } }; // the first title stands below the tools
  const traces = rows.flatMap((row, index) => {
    const number = index ? index + 1 : "", axes = { type: "scatter", xaxis: `x${number}`, yaxis: `y${number}` };
    layout[`xaxis${number}`] = { ...NUMBERS, nticks: 5, rangemode: "normal", showgrid: false, zeroline: false };
    layout[`yaxis${number}`] = { ...axis, matches: index ? "y" : undefined, showticklabels: index % columns === 0 };
    const site = plain(tail(row.site, letters - row.operation.length));
    layout.annotations.push({ xref: `x${number} domain`, yref: `y${number} domain`, x: 0, y: 1, showarrow: false,
      xanchor: "left", yanchor: "bottom", text: `<b>${plain(row.operation)}</b> ${site}` });
    return [binDots(row), phaseLines(row)].map((trace) => ({ ...axes, ...trace, hovertemplate: "%{hovertext}<extra></extra>" }));
  });
  draw(id, traces, layout, 60 + 165 * lines);
}

function binDots(row) {
  const firsts = row.means.map((_, bin) => bin * row.width + 1);
  return { mode: "markers", x: firsts.map((first) => first + (row.width - 1) / 2), y: row.means,
    marker: { color: collectiveColour(data.collectives.indexOf(row.operation)), size: 3.5, opacity: 0.6 },
    hovertext: firsts.map((first, bin) => stretch(row, first, row.width, row.means[bin])) };
}

function phaseLines(row) {
  return { mode: "lines", x: row.phases.flatMap(({ first, calls }) => [first + 1, first + calls]),
    y: row.phases.flatMap(({ level }) => [level, level]), line: { color: colour("--ink"), width: 2 },
    hovertext: row.phases.flatMap(({ first, calls, level }) => Array(2).fill(stretch(row, first + 1, calls, level))) };
}

// A stretch of calls in words.
function stretch(row, first, calls, imbalance) {
  const numbers = calls > 1 ? `calls ${count(first)} to ${count(first + calls - 1)}` : `call ${count(first)}`;
  return `${plain(row.operation)}, ${plain(row.site)}<br>${numbers}<br>mean imbalance ${seconds(imbalance)}`;
}

function stragglerBars(id, rows) {
  const ranks = [...rows].sort((one, other) => one.rank - other.rank), x = ranks.map((row) => `${row.rank}`);
  const part = (name, figure, color) => ({ type: "bar", name, x, y: ranks.map((row) => row[figure]), marker: { color },
    hovertemplate: "%{hovertext}<extra></extra>",
    hovertext: ranks.map((row) => `rank ${row.rank} on ${plain(row.host)}<br>${name}: ${seconds(row[figure])}`) });
  draw(id, [part("wait it alone caused", "caused", colour("--caused")), part("its own waiting", "waited", colour("--idle"))],
    { barmode: "group", bargroupgap: 0.05, yaxis: SECONDS,
      xaxis: { type: "category", showgrid: false, title: { text: "rank", standoff: 6, font: { size: 13 } } } }, 300);
}
