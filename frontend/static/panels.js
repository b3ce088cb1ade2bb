// The tabs besides Read: each one's code and style come when it is shown for the first time.

import { made } from "./made.js";

const MOUNTS = {
  books: async (panel) => (await import("./books.js")).mountBooks(panel),
  connect: async (panel) => (await import("./connect.js")).mountConnect(panel),
  queue: async (panel) => (await import("./queue.js")).mountQueue(panel),
  server: async (panel) => (await import("./live.js")).mountLive(panel),
};

const STYLED = ["books", "connect", "queue"];

export class Panels {
  #mounted = new Map();

  /** A panel is shown; all that look at the server do it now. */
  async show(id) {
    if (id in MOUNTS && !this.#mounted.has(id)) {
      if (STYLED.includes(id)) document.head.append(made("link", { rel: "stylesheet", href: `static/${id}.css` }));
      this.#mounted.set(id, MOUNTS[id](document.getElementById(id)));
    }
    await this.restart();
  }

  /** What is in a panel that was shown. */
  of(id) {
    return this.#mounted.get(id);
  }

  /** Look at the server now: something has changed. */
  async restart() {
    for (const each of this.#mounted.values()) (await each)?.restart();
  }
}
