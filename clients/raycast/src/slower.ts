import { steerCommand } from "./lib/steer-command";

export default async function Slower() {
  await steerCommand("slower", (state) => `${state.speed}×`);
}
