// The page: makes its parts, and joins them.

import { Chapters } from "./chapters.js";
import { takeFiles } from "./drop.js";
import { Follow } from "./follow.js";
import { install } from "./install.js";
import { takeKey } from "./key_box.js";
import { listen } from "./keys.js";
import { marksOf } from "./marks.js";
import { showElsewhere } from "./media.js";
import { clear, failed, say } from "./notices.js";
import { Pane } from "./pane.js";
import { Panels } from "./panels.js";
import { takePastes } from "./paste.js";
import { bind, bindDialogs, listFormats } from "./preferences.js";
import { Reader } from "./reader.js";
import { giveWay, goOn } from "./reconnect.js";
import { Ready } from "./ready.js";
import { Session } from "./session.js";
import { choose, settings, usual } from "./settings.js";
import { Shelf } from "./shelf.js";
import { sleepTimer } from "./sleep.js";
import { paragraph, skip } from "./steps.js";
import { Suited } from "./suited.js";
import { Tabs } from "./tabs.js";
import { Text, divide, paragraphsOf } from "./text.js";
import { tellReading } from "./telling.js";
import { Transport } from "./transport.js";
import { Voices } from "./voices.js";

const $ = (id) => document.getElementById(id);
const some = (...ids) => Object.fromEntries(ids.map((id) => [id, $(id)]));
const voices = new Voices(settings.voice);
const reader = new Reader({ voice: undefined, speed: settings.speed });
const pane = new Pane($("pane"), (place) => reader.play(place));
const chapters = new Chapters($("chapters"), reader);
const voiced = { voice: () => voices.spec, found: (language) => suited.found(language) };
const session = new Session(some("compose", "reading", "text", "title"), reader, pane, new Follow($("follow")), {
  ...voiced,
  begun(opened) {
    clear();
    chapters.show(opened);
    marks.show(opened.marks);
  },
  closed: () => (suited.found(""), say(""), shelf.show()),
  failed,
});
const shelf = new Shelf({ ...some("shelf", "export", "import", "imported"), list: $("kept"), clear: $("forget-all"), find: $("find-text") }, resume);
const suited = new Suited($("suited"), voices);
const marks = marksOf(reader, pane, session);
$("chapters").after(marks.element);
const transport = new Transport(some("play", "back", "forward", "earlier", "later", "progress", "left", "slower", "faster", "speed"), reader, {
  play: () => $("form").requestSubmit(),
  speed: (speed) => choose({ speed }),
});
const ready = new Ready($("ready"), askMenus);
const panels = new Panels();
const tabs = new Tabs($("tabs"), (id) => (id === "read" && shelf.show(), panels.show(id)));
let [picking, saving] = [null, null]; // these two come when they are wanted first
const openPicker = async () => (await (picking ??= makePicker())).open();
const cancel = async () => (await saving)?.cancel();
const openMelody = async () => (await import("./melody.js")).shape($("melody-dialog"), reader);
const openWrong = async () => (await import("./wrong.js")).mend($("wrong-dialog"), reader, pane.clicked);
const makePicker = async () => new (await import("./picker.js")).Picker($("voice-dialog"), voices);

/* Go on with a text that was kept; a book, whose place is in seconds, has a player of its own. */
async function resume(entry) {
  if (entry.place.seconds === undefined) return await session.resume(entry);
  tabs.show("books");
  await (await panels.of("books")).play(entry.id);
}

async function askMenus() {
  await Promise.all([listFormats(), voices.load()]).then(() => transport.show(), failed);
}

voices.addEventListener("change", () => {
  $("voice-name").textContent = voices.title;
  if (voices.all.length) choose({ voice: voices.kept });
  reader.change({ voice: voices.spec, speed: settings.speed });
});

tellReading(reader);

const keepAsFile = async () => {
  const input = session.written;
  try {
    // A text that wasn't opened is in some language, too.
    if (!session.shown) for await (const _ of divide(paragraphsOf(input), new Text(), voiced)) break;
  } catch (error) {
    return failed(error);
  }
  const request = { input, ...reader.how, response_format: settings.format || usual.format };
  saving ??= import("./download.js");
  (await saving).save(request, session.shown?.title ?? "speech", input.length / reader.pump.pace(reader.how));
};
showElsewhere(reader, () => session.shown, () => transport.toggle());
const giveUp = goOn(reader);
giveWay(reader);
sleepTimer($("sleep"), reader, chapters, say);

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  session.listen();
});
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
});
for (const button of document.querySelectorAll(".download")) button.addEventListener("click", keepAsFile);
const clicks = { edit: () => session.edit(), close: () => session.close(), cancel, voice: openPicker, melody: openMelody, wrong: openWrong, mark: () => marks.set() };
for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
takeFiles(some("drop", "open", "file"), (file) => session.file(file));
takePastes($("text"));
bind($("settings-dialog"));
$("settings-dialog").addEventListener("close", () => shelf.show());
bindDialogs();
listen(
  {
    " ": () => transport.toggle(),
    Escape: () => (cancel(), giveUp(), reader.stop()),
    ArrowLeft: () => reader.sentence(-1),
    ArrowRight: () => reader.sentence(1),
    "Shift+ArrowLeft": () => reader.word(-1),
    "Shift+ArrowRight": () => reader.word(1),
    j: () => skip(reader, -15),
    l: () => skip(reader, 15),
    "[": () => paragraph(reader, -1),
    "]": () => paragraph(reader, 1),
    "+": () => transport.faster(1),
    "-": () => transport.faster(-1),
    v: openPicker,
    o: () => $("open").click(),
    e: () => session.edit(),
    m: openMelody,
    w: openWrong,
    b: () => marks.set(),
    "?": () => $("keys-dialog").showModal(),
  },
  new Set(["Escape"]),
);

takeKey(tabs, () => {
  askMenus();
  panels.restart();
});
tabs.start();
askMenus();
install();
document.addEventListener("kokoro-live:back", () => voices.all.length || askMenus());
