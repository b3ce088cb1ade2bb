import { showHUD } from "@raycast/api";
import { reported } from "./failures";
import { refreshMenuBar } from "./menu-bar";
import { PlayState, steer, Verb } from "./player";

/** A command that is one verb: the HUD says what became of it. */
export async function steerCommand(verb: Verb, told: (state: PlayState) => string): Promise<void> {
  await reported(async () => {
    const state = await steer(verb);
    await showHUD(state.state === "idle" && verb !== "stop" ? "Nothing is being spoken" : told(state));
    await refreshMenuBar();
  });
}
