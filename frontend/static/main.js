// The page: makes its parts, and joins them.
//
// Each piece of samples that comes is also told as an event on the document, `kokoro-live:samples`, whose detail is
// the Int16Array (24 kHz mono): for whoever wants to look at what is played.

import { ask, keepKey, key } from "./api.js";
import { cancel, save } from "./download.js";
import { takeFiles } from "./drop.js";
import { Follow } from "./follow.js";
import { listen } from "./keys.js";
import { Live } from "./live.js";
import { startOver, clear, failed, say } from "./notices.js";
import { Pane } from "./pane.js";
import { Picker } from "./picker.js";
import { bind, bindDialogs, listFormats } from "./preferences.js";
import { mountQueue } from "./queue.js";
import { Reader } from "./reader.js";
import { Ready } from "./ready.js";
import { Session } from "./session.js";
import { choose, settings, usual } from "./settings.js";
import { Shelf } from "./shelf.js";
import { Tabs } from "./tabs.js";
import { Transport } from "./transport.js";
import { Voices } from "./voices.js";

const SILENT = "The speech comes, but the browser plays nothing: is there a sound device?";
const PATIENCE = 3000;
/* Milliseconds in which a browser has opened its sound device, if there is one. */

const $ = (id) => document.getElementById(id);
const some = (...ids) => Object.fromEntries(ids.map((id) => [id, $(id)]));
const voices = new Voices(settings.voice);
const reader = new Reader({ voice: undefined, speed: settings.speed });
const pane = new Pane($("pane"), (place) => reader.play(place));
const session = new Session(some("compose", "reading", "text", "title"), reader, pane, new Follow($("follow")), {
  voice: () => voices.spec,
  begun: clear,
  closed: () => shelf.show(),
  failed,
});
const shelf = new Shelf({ shelf: $("shelf"), list: $("kept"), clear: $("forget-all") }, (entry) => session.resume(entry));
const transport = new Transport(some("play", "back", "forward", "progress", "left", "slower", "faster", "speed"), reader, {
  play: () => $("form").requestSubmit(),
  speed: (speed) => choose({ speed }),
});
const live = new Live({
  ...some("figures", "streams", "advice", "all"),
  panel: $("server"),
  trouble: $("live-trouble"),
  allBox: $("all-box"),
});
const ready = new Ready($("ready"), askMenus);
const queue = mountQueue($("queue"));
const tabs = new Tabs($("tabs"), () => [live, queue].forEach((each) => each.restart()));
const picker = new Picker($("voice-dialog"), voices, async (said) => {
  const aloud = reader.state === "playing" || reader.state === "waiting";
  reader.pause();
  await said.catch(() => {}); // the picker tells of it
  if (aloud && reader.state === "paused") reader.toggle();
});

async function askMenus() {
  try {
    await Promise.all([listFormats(), voices.load()]);
    transport.show();
  } catch (error) {
    failed(error);
  }
}

voices.addEventListener("change", () => {
  $("voice-name").textContent = voices.title;
  if (voices.all.length) choose({ voice: voices.kept });
  reader.change({ voice: voices.spec, speed: settings.speed });
});

const gapsOf = (gaps) => (gaps ? `, ${gaps === 1 ? "one gap" : `${gaps} gaps`}` : "");
let patience = 0;
reader.addEventListener("state", ({ detail: state }) => {
  clearTimeout(patience);
  const before = document.body.dataset.reading;
  document.body.dataset.reading = state;
  if (state === "idle" && reader.ended) say(`Read to the end${gapsOf(reader.pump.gaps)}`);
  if (state === "idle" || state === "paused") return;
  if (before === "idle") startOver();
  patience = setTimeout(() => reader.pump.silent && say(SILENT), PATIENCE);
});
reader.pump.addEventListener("begun", ({ detail: seconds }) => {
  say(`First sound after ${seconds.toFixed(2)} s`);
});
reader.pump.addEventListener("samples", ({ detail }) => {
  document.dispatchEvent(new CustomEvent("kokoro-live:samples", { detail }));
});
reader.pump.addEventListener("trouble", ({ detail }) => failed(detail));

const keepAsFile = () =>
  save({ input: session.written, ...reader.how, response_format: settings.format || usual.format }, session.title);

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  session.listen();
});
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
});
for (const button of document.querySelectorAll(".download")) button.addEventListener("click", keepAsFile);
$("edit").addEventListener("click", () => session.edit());
$("close").addEventListener("click", () => session.close());
$("voice").addEventListener("click", () => picker.open());
takeFiles(some("drop", "open", "file"), (file) => session.file(file));
bind($("settings-dialog"));
bindDialogs();
listen(
  {
    " ": () => transport.toggle(),
    Escape() {
      cancel();
      reader.stop();
    },
    ArrowLeft: () => reader.sentence(-1),
    ArrowRight: () => reader.sentence(1),
    "Shift+ArrowLeft": () => reader.word(-1),
    "Shift+ArrowRight": () => reader.word(1),
    "+": () => transport.faster(1),
    "-": () => transport.faster(-1),
    v: () => picker.open(),
    o: () => $("open").click(),
    e: () => session.edit(),
    "?": () => $("keys-dialog").showModal(),
  },
  new Set(["Escape"]),
);

$("ask-key").addEventListener("click", () => {
  tabs.show("read");
  $("key-box").hidden = false;
  $("key").focus();
});
$("key").value = key();
$("key").addEventListener("change", () => {
  keepKey($("key").value.trim());
  clear();
  askMenus();
  for (const each of [live, queue]) each.restart();
});
tabs.once("books", async (panel) => (await import("./books.js")).mountBooks(panel, { api: ask }));
tabs.start();
shelf.show();
askMenus();
