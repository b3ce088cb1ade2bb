// The button, the menu and the page that is read: what is to be said goes to the player, and what sounds back to the page.

import { Player, steer } from "./player.js";
import { settings } from "./settings.js";

const READ = "read-page";
const SELECTION = "read-selection";
const FILES = ["node_modules/@mozilla/readability/Readability.js", "page.js"];

const DOCUMENT = { url: "player.html", reasons: ["AUDIO_PLAYBACK"], justification: "Reads a page aloud" };

let opening = null;
let player = null; // Firefox's background page plays; Chromium's worker has no sound, and lets player.html do it

chrome.runtime.onInstalled.addListener(() => {
  chrome.contextMenus.create({ id: READ, title: "Read this page aloud", contexts: ["page"] });
  chrome.contextMenus.create({ id: SELECTION, title: "Read the selection aloud", contexts: ["selection"] });
});
chrome.contextMenus.onClicked.addListener(({ menuItemId }, tab) => begin(tab.id, menuItemId === SELECTION));
chrome.action.onClicked.addListener(({ id }) => press(id));

chrome.runtime.onMessage.addListener((message, sender) => {
  if (message.to !== "background") return;
  if (message.press) press(message.press); // as the button does, which no test can reach
  else if (message.paragraphs) read(sender.tab.id, message.paragraphs, message.from);
  else if (message.told) tell(message.told);
  else if (message.act) act(message.act);
});

/** The button: read the page, or what is selected; while its text is read, pause or go on. */
async function press(tab) {
  const { reading } = await chrome.storage.session.get("reading");
  if (reading === tab) await act({ toggle: true });
  else await begin(tab, true);
}

async function begin(tab, selection) {
  await chrome.scripting.insertCSS({ target: { tabId: tab }, files: ["page.css"] });
  await chrome.scripting.executeScript({ target: { tabId: tab }, files: FILES });
  await chrome.tabs.sendMessage(tab, { begin: { selection } });
}

async function read(tab, paragraphs, from) {
  const { reading } = await chrome.storage.session.get("reading");
  if (reading !== undefined && reading !== tab) await tell({ state: "idle" });
  await chrome.storage.session.set({ reading: tab });
  await act({ read: paragraphs, from, how: await settings() });
}

/** Have the player do something. */
async function act(what) {
  const there = chrome.offscreen ? await chrome.offscreen.hasDocument() : player;
  // A player that was paused for long may have been ended: Chromium closes a document that is silent for 30 s.
  if (what.toggle && !there) return chrome.tabs.sendMessage((await chrome.storage.session.get("reading")).reading, { begin: { again: true } });
  if (!chrome.offscreen) return steer((player ??= new Player(tell)), what);
  if (!there) await (opening ??= chrome.offscreen.createDocument(DOCUMENT).finally(() => (opening = null)));
  await chrome.runtime.sendMessage({ to: "player", what });
}

/** Tell the page that is read what sounds. */
async function tell(told) {
  const { reading } = await chrome.storage.session.get("reading");
  if (reading === undefined) return;
  if (told.state === "idle") await chrome.storage.session.remove("reading");
  await chrome.tabs.sendMessage(reading, { told }).catch(() => act({ stop: true })); // the page was left
}
