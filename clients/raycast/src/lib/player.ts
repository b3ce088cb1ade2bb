import { getPreferenceValues } from "@raycast/api";
import { ask, askJson, Refused } from "./server";
import { chosenVoice } from "./voice";

/** The player's state, as `GET /v1/play` gives it; fields about a text are null while none is spoken. */
export interface PlayState {
  state: "idle" | "buffering" | "playing" | "paused";
  id: string | null;
  title: string | null;
  sentence: string | null;
  seconds: number | null;
  of: number | null;
  speed: number | null;
  queue: { id: string; title: string; characters: number }[];
  reason: string | null;
}

export interface Wish {
  input: string;
  title?: string;
  voice?: string;
  speed?: number;
  on_busy?: "interrupt" | "queue" | "next";
}

export interface Accepted {
  id: string;
  position_in_queue: number;
}

export type Verb = "toggle" | "pause" | "resume" | "stop" | "skip" | "back" | "faster" | "slower";

/** Have a text spoken. Fields that the wish lacks come from the preferences. */
export async function speak(wish: Wish): Promise<Accepted> {
  const { speed, onBusy } = getPreferenceValues<Preferences>();
  const voice = wish.voice || (await chosenVoice());
  return askJson<Accepted>("POST", "/v1/play", {
    speed: Number(speed) || undefined,
    on_busy: onBusy,
    source: "Raycast",
    ...wish,
    voice: voice || undefined,
  });
}

export function steer(verb: Verb): Promise<PlayState> {
  return askJson<PlayState>("POST", `/v1/play/${verb}`);
}

export function state(): Promise<PlayState> {
  return askJson<PlayState>("GET", "/v1/play");
}

/** End one text, and leave all others; false if it was over already. */
export async function end(id: string): Promise<boolean> {
  try {
    await ask("DELETE", `/v1/play/${encodeURIComponent(id)}`);
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return false;
    throw error;
  }
}
