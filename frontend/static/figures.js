// The figures of `/status`, and of windows over `/metrics`, in words. What isn't there is left out.

import { decimal, language, t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDE = new Set([t("Cache"), t("Engine"), t("Given up"), t("Restarts")]);

/* One or several of what is counted. */
const COUNTED = {
  segment: [t("1 segment"), t("{count} segments")],
  request: [t("1 request"), t("{count} requests")],
};

/** Fill a `dl`. Text that stays the same isn't touched, so that nothing is read out twice. */
export function figures(list, status, { firstAudio, realTime }) {
  const rows = [
    [t("Time to first audio, last 5 minutes"), firstAudio.count && `${inMs(firstAudio.mean)}, ${mean(firstAudio, "request")}`, firstAudio],
    [t("Real-time factor, last 5 minutes"), realTime.count && `${Number(realTime.mean.toPrecision(2)).toLocaleString(language)}, ${mean(realTime, "segment")}`, realTime],
    [t("Streams"), status.active_streams],
    [t("Queue"), counted(status.queue_depth, "segment")],
    [t("Gaps heard"), status.totals && t("{gaps} in {spoken} texts", { gaps: status.totals.underruns, spoken: status.totals.spoken })],
    [t("Running for"), status.front_uptime_seconds === undefined ? undefined : duration(status.front_uptime_seconds)],
    [t("Restarts"), status.restarts && (pairs(status.restarts) || t("none"))],
    [t("Cache"), status.cache && cache(status.cache)],
    [t("Engine"), status.engine && `${status.engine.name}, ${status.engine.model}, ${status.engine.provider}`],
    [t("Given up"), status.provider_failures && pairs(status.provider_failures)],
  ];
  // A count of 0 is a figure; a window in which nothing was measured has none.
  const shown = rows.filter(([, value, window]) => value !== undefined && value !== "" && !(window && !window.count));
  const before = new Map([...list.children].map((row) => [row.dataset.label, row]));
  const now = shown.map(([label, value, window]) => row(before.get(label), label, value, window));
  if (now.length !== before.size || now.some((found, place) => found !== list.children[place])) list.replaceChildren(...now);
}

/** Fill a list with what is being spoken. */
export function streams(list, spoken = []) {
  items(
    list,
    spoken.map(({ request_id: id, seconds_sent: sent, seconds_ahead: ahead }) => {
      const far = ahead === undefined ? [] : [t("{seconds} s ahead", { seconds: decimal(ahead, 1) })];
      return `${id.slice(0, 8)}: ${[t("{seconds} s sent", { seconds: decimal(sent, 1) }), ...far].join(", ")}`;
    }),
  );
}

/** Fill a list with what the server recommends. */
export function advice(list, recommended = []) {
  items(list, recommended.map(({ message }) => message));
}

function items(list, texts) {
  list.hidden = !texts.length;
  if ([...list.children].map((item) => item.textContent).join("\n") === texts.join("\n")) return;
  list.replaceChildren(...texts.map((textContent) => Object.assign(document.createElement("li"), { textContent })));
}

function row(known, label, value, window) {
  const found = known ?? document.createElement("div");
  if (!known) {
    found.dataset.label = label;
    found.append(Object.assign(document.createElement("dt"), { textContent: label }), document.createElement("dd"));
    found.lastChild.append("");
    found.className = WIDE.has(label) || window ? "wide" : "";
  }
  const [text] = found.lastChild.childNodes;
  if (text.data !== String(value)) text.data = String(value);
  found.lastChild.querySelector("svg")?.remove();
  const points = window?.points() ?? [];
  if (points.length > 1) found.lastChild.append(sparkline(points));
  return found;
}

/** The window's points from left to right, from 0 to the highest. The text next to it says the figure. */
function sparkline(points) {
  const chart = document.createElementNS(SVG, "svg");
  chart.setAttribute("viewBox", "0 0 100 100");
  chart.setAttribute("preserveAspectRatio", "none");
  chart.setAttribute("aria-hidden", "true");
  const top = Math.max(...points.map(({ value }) => value)) || 1;
  const places = points.map(({ place, value }) => [place * 100, 100 - (value / top) * 100]);
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", places.map((place) => place.join(",")).join(" "));
  chart.append(line);
  for (const [x, y] of places) {
    const dot = document.createElementNS(SVG, "line");
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: y, y2: y })) dot.setAttribute(name, value);
    chart.append(dot);
  }
  return chart;
}

const inMs = (seconds) => (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : t("{seconds} s", { seconds: decimal(seconds, 2) }));
const counted = (count, noun) => (count === undefined ? undefined : COUNTED[noun][Number(count !== 1)].replace("{count}", count));
const mean = ({ count }, noun) => (count === 1 ? counted(1, noun) : t("mean of {counted}", { counted: counted(count, noun) }));
const pairs = (found) => Object.entries(found).filter(([, value]) => value).map(([name, value]) => `${name} ${value}`).join(", ");

function cache({ segments, bytes, hits, misses }) {
  const parts = [counted(segments, "segment")];
  if (bytes !== undefined) parts.push(`${decimal(bytes / 1e6, 1)} MB`);
  if (hits + misses) parts.push(t("{hits} of {of} found", { hits, of: hits + misses }));
  return parts.filter(Boolean).join(", ");
}

function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return t("{seconds} s", { seconds: Math.floor(seconds) });
  if (minutes < 120) return t("{minutes} min", { minutes });
  return t("{hours} h", { hours: Math.floor(minutes / 60) });
}
