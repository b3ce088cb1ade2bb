import { Clipboard, showHUD } from "@raycast/api";
import { reported } from "./lib/failures";
import { toggleText } from "./lib/toggle-text";

export default async function SpeakClipboard() {
  await reported(async () => {
    const text = (await Clipboard.readText())?.trim();
    if (text) return toggleText(text);
    await showHUD("There is no text in the clipboard");
  });
}
