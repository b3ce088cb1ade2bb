import { LocalStorage, showHUD } from "@raycast/api";
import { refreshMenuBar } from "./menu-bar";
import { end, speak, steer } from "./player";

/** The text that a command of this extension has had spoken last; without an id while the server hasn't answered. */
interface Last {
  text: string;
  id?: string;
}

const LAST = "last";

/** Speak the text; if it is the one that was spoken last and still sounds or waits, end it instead. */
export async function toggleText(text: string): Promise<void> {
  const last = await lastText();
  if (last?.text === text && (await ended(last))) {
    await showHUD("Stopped");
  } else {
    await LocalStorage.setItem(LAST, JSON.stringify({ text } satisfies Last));
    try {
      const { id, position_in_queue } = await speak({ input: text });
      await LocalStorage.setItem(LAST, JSON.stringify({ text, id } satisfies Last));
      await showHUD(position_in_queue ? `Queued behind ${position_in_queue}` : "Speaking");
    } catch (error) {
      await LocalStorage.removeItem(LAST);
      throw error;
    }
  }
  await refreshMenuBar();
}

/** End the text that was spoken last; false if none is spoken any more. */
export async function endLast(): Promise<boolean> {
  const last = await lastText();
  if (!last || !(await ended(last))) return false;
  await showHUD("Stopped");
  await refreshMenuBar();
  return true;
}

async function lastText(): Promise<Last | undefined> {
  const stored = await LocalStorage.getItem<string>(LAST);
  return stored ? (JSON.parse(stored) as Last) : undefined;
}

async function ended(last: Last): Promise<boolean> {
  await LocalStorage.removeItem(LAST);
  if (last.id) return end(last.id);
  await steer("stop"); // pressed twice at once: the server hasn't told the text's id yet
  return true;
}
