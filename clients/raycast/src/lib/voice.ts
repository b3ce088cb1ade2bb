import { getPreferenceValues, LocalStorage } from "@raycast/api";
import { askJson } from "./server";

export interface Voice {
  id: string;
  language?: string;
  gender?: string | null;
}

const CHOSEN = "voice";

/** The voice that the preferences name; empty if they name none. */
export function voiceOfPreferences(): string {
  return getPreferenceValues<Preferences>().voice ?? "";
}

/** The voice of the preferences, else the one chosen in Voices, else undefined: the server's own. */
export async function chosenVoice(): Promise<string | undefined> {
  return voiceOfPreferences() || (await LocalStorage.getItem<string>(CHOSEN));
}

export function choose(voice: string): Promise<void> {
  return LocalStorage.setItem(CHOSEN, voice);
}

export async function voices(): Promise<{ voices: Voice[]; default_voice: string }> {
  return askJson("GET", "/v1/audio/voices");
}
