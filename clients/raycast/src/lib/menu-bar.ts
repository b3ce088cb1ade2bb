import { launchCommand, LaunchType } from "@raycast/api";

/** Have the menu bar show the new state now. */
export async function refreshMenuBar(): Promise<void> {
  try {
    await launchCommand({ name: "now-speaking", type: LaunchType.Background });
  } catch {
    // The user hasn't enabled the menu bar command: there is nothing to refresh.
  }
}
