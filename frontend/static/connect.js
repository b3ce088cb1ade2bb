// The tab of other programs: what each needs to speak by this server, to copy, and whether it has called.

import { key } from "./api.js";
import { Look } from "./look.js";
import { made } from "./made.js";
import { language, t } from "./words.js";

const ANY_KEY = "YOUR_KEY"; // stands for a key in the server's lines

const AGO = new Intl.RelativeTimeFormat(language, { numeric: "auto" });

/* A bookmark: the marked part of a page, or its article, goes to this page behind the address's #, which no server sees. */
const BOOKMARK = `javascript:(()=>{
const d=document,s=getSelection(),n=d.createElement("article");
n.append(s.isCollapsed?(d.querySelector("article")||d.querySelector("main")||d.body).cloneNode(true):s.getRangeAt(0).cloneContents());
n.querySelectorAll("script,style,svg,img,video,nav,aside,footer,form,iframe").forEach(e=>e.remove());
const x=new XMLSerializer(),t=d.createElement("title");t.textContent=d.title;
open("BASE#html="+encodeURIComponent(x.serializeToString(t)+x.serializeToString(n)))
})()`.replaceAll("\n", "");

/** Where a program may run, and the server's address as it sees it from there. */
const PLACES = {
  here: (base) => base,
  container: (base) => Object.assign(new URL(base), { hostname: "host.docker.internal" }).href,
  elsewhere: (base, name) => Object.assign(new URL(base), { hostname: name || "SERVER" }).href,
};

/** Fill the tab's panel, once. @param {HTMLElement} section the panel */
export function mountConnect(section) {
  return new Connect(section);
}

class Connect {
  #rows = new Map();
  #list;
  #look;
  #hint;

  constructor(section) {
    const where = made("select", { id: "connect-where" });
    where.append(
      new Option(t("On this machine"), "here"),
      new Option(t("In a container on this machine"), "container"),
      new Option(t("On another machine"), "elsewhere"),
    );
    this.#list = made("ul", { className: "clients", ariaLabel: t("Programs") });
    this.#hint = made("p", { className: "hint" });
    const trouble = made("p", { role: "alert", className: "wrong" });
    const bookmark = made("a", { href: BOOKMARK.replace("BASE", new URL(".", document.baseURI)), textContent: t("Read this page aloud") });
    bookmark.addEventListener("click", (event) => event.preventDefault());
    section.append(
      made("h2", { textContent: t("Any page in this browser") }),
      made("p", { className: "hint", textContent: t("Drag this link to the bookmarks bar. On a page, the bookmark opens here what is marked there, or the whole text:") }),
      made("p", {}, bookmark),
      made("h2", { textContent: t("Connect a program") }),
      made("p", { className: "hint", textContent: t("Copy a command into a terminal on this server's machine: it shows the change, makes it after a yes, and speaks a sentence that way. Or enter the lines yourself.") }),
      made("div", { className: "field" }, made("label", { htmlFor: where.id, textContent: t("The program runs") }), where),
      this.#hint,
      trouble,
      this.#list,
    );
    const here = new URL(".", document.baseURI).href.replace(/\/$/, "");
    const own = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname) ? "" : location.hostname;
    const place = () => {
      const url = PLACES[where.value](here, own).replace(/\/$/, "");
      this.#hint.textContent = where.value === "here" ? "" : t("The server must be open to it: kokoro-live serve --host 0.0.0.0 --api-key-file ~/.config/kokoro-live/keys");
      this.#look?.stop();
      this.#look = new Look(section, trouble, [`v1/clients?url=${encodeURIComponent(url)}`], (answer) => this.#show(answer), () => {});
      this.#look.restart();
    };
    where.addEventListener("change", place);
    place();
  }

  /** Look now: something has changed. */
  restart() {
    this.#look.restart();
  }

  #show({ clients }) {
    for (const client of clients) {
      const lines = client.lines.replaceAll(ANY_KEY, key() || ANY_KEY);
      let row = this.#rows.get(client.name);
      if (!row) {
        row = new Row(client);
        this.#rows.set(client.name, row);
        this.#list.append(row.element);
      }
      row.show({ ...client, lines });
    }
  }
}

class Row {
  #tick = made("span", { className: "called", hidden: true });
  #where = made("p", { className: "hint" });
  #command;
  #lines;

  constructor({ title, then }) {
    this.#command = new Copied(t("Copy the command for {title}", { title }));
    this.#lines = new Copied(t("Copy the lines for {title}", { title }));
    const head = made("summary", {}, made("span", { textContent: title }), this.#tick);
    const next = made("p", { className: "hint", textContent: then });
    this.element = made("li", {}, made("details", {}, head, this.#command.element, this.#where, this.#lines.element, next));
  }

  show({ command, words, lines, called }) {
    this.#command.show(command);
    this.#where.textContent = words;
    this.#where.hidden = this.#lines.element.hidden = !words;
    this.#lines.show(lines);
    this.#tick.hidden = !called;
    if (called) this.#tick.textContent = t("Has called, {when}", { when: ago(called.seconds_ago) });
    this.#tick.title = called?.program ?? "";
  }
}

/** Lines with a button that copies them. */
class Copied {
  #pre = made("pre", { tabIndex: 0 });

  constructor(label) {
    const button = made("button", { type: "button", textContent: t("Copy"), ariaLabel: label });
    button.addEventListener("click", async () => {
      await copy(this.#pre);
      button.textContent = t("Copied");
      setTimeout(() => (button.textContent = t("Copy")), 2000);
    });
    this.element = made("div", { className: "copied" }, this.#pre, button);
  }

  show(text) {
    if (this.#pre.textContent !== text) this.#pre.textContent = text;
  }
}

/** Without HTTPS a page outside this machine has no clipboard, but an older way works. */
async function copy(element) {
  if (navigator.clipboard) return navigator.clipboard.writeText(element.textContent);
  getSelection().selectAllChildren(element);
  document.execCommand("copy");
  getSelection().removeAllRanges();
}

function ago(seconds) {
  const [unit, size] = seconds < 60 ? ["second", 1] : seconds < 3600 ? ["minute", 60] : ["hour", 3600];
  return AGO.format(-Math.floor(seconds / size), unit);
}
