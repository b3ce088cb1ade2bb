import { Clipboard, getSelectedText, showHUD } from "@raycast/api";
import { reported } from "./lib/failures";
import { endLast, toggleText } from "./lib/toggle-text";

export default async function SpeakSelection() {
  await reported(async () => {
    const selected = await selection();
    if (selected) return toggleText(selected);
    if (await endLast()) return;
    const text = (await Clipboard.readText())?.trim();
    if (text) return toggleText(text);
    await showHUD("Select or copy a text first");
  });
}

async function selection(): Promise<string> {
  try {
    return (await getSelectedText()).trim();
  } catch {
    return ""; // nothing is selected, or the app in front doesn't tell
  }
}
