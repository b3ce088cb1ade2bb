// What was read, in step with the server, which keeps it for all devices that have the same key.

import { ask } from "./api.js";
import { all, keep, merged } from "./library.js";
import { failed } from "./notices.js";

let running = null;

/** Fetch what other devices have read, and send what this one has. @returns {Promise<boolean>} whether something came */
export function exchange() {
  running ??= run().finally(() => (running = null));
  return running;
}

async function run() {
  let came = false;
  try {
    const { texts } = await (await ask("v1/library")).json();
    const there = new Map(texts.map(({ id, at }) => [id, at]));
    const here = new Map((await all()).map((entry) => [entry.id, entry]));
    for (const [id, at] of there) {
      const mine = here.get(id);
      if (mine?.at === at) continue;
      const theirs = await (await ask(`v1/library/${id}`)).json();
      const both = mine ? merged(mine, theirs) : theirs;
      here.set(id, both);
      if (both.at === mine?.at) continue;
      await keep(both);
      came = true;
    }
    for (const entry of here.values()) if (there.get(entry.id) !== entry.at) await send(entry);
  } catch (error) {
    if (error.code !== "lost") failed(error); // a server that is away is told of by those who need it
  }
  return came;
}

async function send(entry) {
  try {
    await ask(`v1/library/${entry.id}`, { method: "PUT", body: entry });
  } catch (error) {
    if (error.status !== 413) throw error; // a text longer than the server takes stays in this browser
  }
}
