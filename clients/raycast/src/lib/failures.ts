import { Clipboard, openExtensionPreferences, showToast, Toast } from "@raycast/api";
import { NotRunning, WrongKey } from "./server";

const START = "kokoro-live install-service --now";
const CHECK = "kokoro-live doctor";

/** Run it; a failure becomes one toast. Resolves to undefined after a failure. */
export async function reported<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    await showToast(toastFor(error));
    return undefined;
  }
}

/** The toast for a failure: what is wrong, and the command that mends it, to be copied. */
export function toastFor(error: unknown): Toast.Options {
  const style = Toast.Style.Failure;
  if (error instanceof NotRunning) {
    return { style, title: "kokoro-live is not running", message: `Run ${START}`, primaryAction: copy(START) };
  }
  if (error instanceof WrongKey) {
    const preferences = { title: "Open Preferences", onAction: () => void openExtensionPreferences() };
    const message = `Set the API key in the preferences. ${CHECK} checks the server.`;
    return {
      style,
      title: "The server wants another API key",
      message,
      primaryAction: copy(CHECK),
      secondaryAction: preferences,
    };
  }
  return { style, title: "Not spoken", message: error instanceof Error ? error.message : String(error) };
}

function copy(command: string) {
  return {
    title: "Copy Command",
    onAction: (toast: Toast) => void Clipboard.copy(command).then(() => toast.hide()),
  };
}
