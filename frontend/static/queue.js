// The queue: who waits and why, what is planned when, the last hour's first sounds, errors by cause.

import { Look } from "./look.js";
import { decimal, language, t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const MINUTES = 60;

const WAITS = { listener: t("a listener"), whole: t("someone, for all of it"), nobody: t("nobody") };

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
  const first = stream.first_sound_seconds;
  write(title, `${stream.voice}, ${stream.language}: ${t(stream.state)}`);
  write(why, t(stream.why));
  rows(facts, [
    [t("First sound"), first === undefined ? ahead(stream.first_sound_in_seconds, t("expected in {time}")) : t("after {time}", { time: seconds(first) })],
    [t("Ahead of its listener"), seconds(stream.seconds_ahead)],
    [t("Next segment due"), ahead(stream.due_in_seconds, t("in {time}"))],
    [t("Real-time factor"), stream.real_time_factor?.toLocaleString(language)],
    [t("Sent"), seconds(stream.seconds_sent)],
    [t("Waits for it"), WAITS[stream.waits]],
    [t("Since"), seconds(stream.age_seconds)],
    [t("Request"), stream.request_id.slice(0, 8)],
  ]);
  list(planned, stream.planned.map(plannedLine));
  return card;
}

function plannedLine({ segment, tokens, seconds: length, made, stage, deadline_in_seconds: due, worker }) {
  return [
    t("{segment}: {tokens} tokens", { segment, tokens }),
    t("{time} of sound", { time: seconds(length) }),
    worker === undefined ? t(stage) : t("{stage} by {worker}", { stage: t(stage), worker: `worker[${worker}]` }),
    made && t("{percent} % made", { percent: Math.round(made * 100) }),
    ahead(due, t("due in {time}")),
  ].filter(Boolean).join(", ");
}

const workerLine = (engine) => ({ state, generation, provider, resident_memory_bytes: bytes }) =>
  [
    `worker${generation === undefined ? "" : `[${generation}]`} ${t(state)}`,
    provider,
    engine?.stages?.map(({ name, provider: at }) => t("{stage} on {provider}", { stage: name, provider: at.replace("ExecutionProvider", "") })).join(", "),
    bytes && `${Math.round(bytes / 1e6)} MB`,
  ].filter(Boolean).join("; ");

/** A bar for each minute of the last hour, as high as its median, with a dot at its slowest. */
function firstSounds(chart, said, minutes) {
  const heard = minutes.reduce((sum, { heard }) => sum + heard, 0);
  const top = Math.max(...minutes.map(({ worst_seconds: worst }) => worst), 0.001);
  const slowest = minutes.reduce((slow, { worst_seconds: worst }) => Math.max(slow, worst), 0);
  write(said, heard ? t("{count} heard, the slowest after {time}.", { count: heard, time: seconds(slowest) }) : t("No first sound in the last hour."));
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

const seconds = (value) => (value === undefined ? undefined : t("{seconds} s", { seconds: decimal(value, 2) }));

/** A time to come, put into words, or one that has passed. */
function ahead(value, words) {
  if (value === undefined) return undefined;
  return value < 0 ? t("{time} late", { time: seconds(-value) }) : words.replace("{time}", seconds(value));
}
