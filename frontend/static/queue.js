// The queue: who waits and why, what is planned when, the last hour's first sounds, errors by cause.

import { Look } from "./look.js";

const SVG = "http://www.w3.org/2000/svg";
const MINUTES = 60;

/** Show the queue in its panel; gives what looks again. */
export function mountQueue(panel) {
  const part = (name) => panel.querySelector(`[data-part="${name}"]`);
  const show = (status) => {
    streams(part("streams"), status.streams);
    part("nobody").hidden = status.streams.length > 0;
    firstSounds(part("plot"), part("plot-said"), status.first_sounds ?? []);
    list(part("errors"), Object.entries(status.errors_by_cause ?? {}).map(([cause, count]) => `${cause}: ${count}`));
    list(part("workers"), (status.processes ?? []).filter(({ role }) => role === "worker").map(workerLine(status.engine)));
  };
  return new Look(panel, part("trouble"), ["status"], show, () => part("streams").replaceChildren());
}

function streams(box, spoken) {
  const known = new Map([...box.children].map((card) => [card.dataset.request, card]));
  const cards = spoken.map((stream) => filled(known.get(stream.request_id) ?? card(stream), stream));
  if (cards.length !== box.children.length || cards.some((each, place) => each !== box.children[place])) box.replaceChildren(...cards);
}

function card({ request_id: id }) {
  const made = element("li");
  made.dataset.request = id;
  made.append(element("h3"), element("p"), element("dl"), element("ol"));
  return made;
}

function filled(card, stream) {
  const [title, why, facts, planned] = card.children;
  write(title, `${stream.voice}, ${stream.language}: ${stream.state}`);
  write(why, stream.why);
  rows(facts, [
    ["First sound", stream.first_sound_seconds === undefined ? ahead(stream.first_sound_in_seconds, "expected in") : `after ${seconds(stream.first_sound_seconds)}`],
    ["Ahead of its listener", seconds(stream.seconds_ahead)],
    ["Next segment due", ahead(stream.due_in_seconds, "in")],
    ["Real-time factor", stream.real_time_factor],
    ["Sent", seconds(stream.seconds_sent)],
    ["Waits for it", { listener: "a listener", whole: "someone, for all of it", nobody: "nobody" }[stream.waits]],
    ["Since", seconds(stream.age_seconds)],
    ["Request", stream.request_id.slice(0, 8)],
  ]);
  list(planned, stream.planned.map(plannedLine));
  return card;
}

function plannedLine({ segment, tokens, seconds: length, made, stage, deadline_in_seconds: due, worker }) {
  const by = worker === undefined ? "" : ` by worker[${worker}]`;
  const part = made ? `, ${Math.round(made * 100)} % made` : "";
  return `${segment}: ${tokens} tokens, ${seconds(length)} of sound, ${stage}${by}${part}${due === undefined ? "" : `, ${ahead(due, "due in")}`}`;
}

const workerLine = (engine) => ({ state, generation, provider, resident_memory_bytes: bytes }) =>
  [
    `worker${generation === undefined ? "" : `[${generation}]`} ${state}`,
    provider,
    engine?.stages?.map(({ name, provider: at }) => `${name} on ${at.replace("ExecutionProvider", "")}`).join(", "),
    bytes && `${Math.round(bytes / 1e6)} MB`,
  ].filter(Boolean).join("; ");

/** A bar for each minute of the last hour, as high as its median, with a dot at its slowest. */
function firstSounds(chart, said, minutes) {
  const heard = minutes.reduce((sum, { heard }) => sum + heard, 0);
  const top = Math.max(...minutes.map(({ worst_seconds: worst }) => worst), 0.001);
  const slowest = minutes.reduce((slow, { worst_seconds: worst }) => Math.max(slow, worst), 0);
  write(said, heard ? `${heard} heard, the slowest after ${seconds(slowest)}.` : "No first sound in the last hour.");
  chart.setAttribute("viewBox", `0 0 ${MINUTES} 20`);
  chart.replaceChildren(
    ...minutes.flatMap(({ minutes_ago: ago, median_seconds: median, worst_seconds: worst }) => {
      const x = MINUTES - 1 - ago;
      const height = (20 * median) / top;
      return [
        shape("rect", { x: x + 0.1, y: 20 - height, width: 0.8, height }),
        shape("circle", { cx: x + 0.5, cy: 20 - (20 * worst) / top, r: 0.35 }),
      ];
    }),
  );
}

function rows(list, found) {
  const shown = found.filter(([, value]) => value !== undefined && value !== "");
  if ([...list.children].map(({ dataset }) => dataset.label).join() !== shown.map(([label]) => label).join()) {
    list.replaceChildren(
      ...shown.map(([label]) => {
        const row = element("div");
        row.dataset.label = label;
        row.append(element("dt", label), element("dd"));
        return row;
      }),
    );
  }
  shown.forEach(([, value], place) => write(list.children[place].lastChild, value));
}

function list(box, texts) {
  box.hidden = !texts.length;
  if (box.children.length !== texts.length) box.replaceChildren(...texts.map(() => element("li")));
  texts.forEach((text, place) => write(box.children[place], text));
}

/** Text that stays the same isn't touched, so that nothing is read out twice. */
function write(where, text) {
  if (where.textContent !== String(text)) where.textContent = text;
}

const element = (name, textContent = "") => Object.assign(document.createElement(name), { textContent });

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const seconds = (value) => (value === undefined ? undefined : `${value.toFixed(2)} s`);
const ahead = (value, word) => (value === undefined ? undefined : value < 0 ? `${(-value).toFixed(2)} s late` : `${word} ${seconds(value)}`);
