import { steerCommand } from "./lib/steer-command";

export default async function PauseOrResume() {
  await steerCommand("toggle", (state) => (state.state === "paused" ? "Paused" : "Resumed"));
}
