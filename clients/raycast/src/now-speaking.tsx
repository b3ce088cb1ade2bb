import { environment, Icon, LaunchType, MenuBarExtra, openCommandPreferences } from "@raycast/api";
import { useEffect, useState } from "react";
import { reported } from "./lib/failures";
import { end, PlayState, state, steer, Verb } from "./lib/player";

const TITLE_LENGTH = 40;

export default function NowSpeaking() {
  const [now, setNow] = useState<PlayState>();
  const [isLoading, setLoading] = useState(true);

  useEffect(() => {
    void current().then((found) => {
      setNow(found);
      setLoading(false);
    });
  }, []);

  async function steered(verb: Verb) {
    setNow(await reported(() => steer(verb)));
  }

  if (!isLoading && (!now || now.state === "idle") && environment.launchType === LaunchType.Background) return null;
  return (
    <MenuBarExtra isLoading={isLoading} icon={iconOf(now)} title={now && short(titleOf(now))}>
      {!now || now.state === "idle" ? (
        <MenuBarExtra.Item title="Nothing is being spoken" />
      ) : (
        <>
          <MenuBarExtra.Section title={progressOf(now)}>
            <MenuBarExtra.Item title={now.sentence ?? "…"} tooltip={now.title || undefined} />
          </MenuBarExtra.Section>
          <MenuBarExtra.Section>
            <MenuBarExtra.Item
              title={now.state === "paused" ? "Resume" : "Pause"}
              icon={now.state === "paused" ? Icon.Play : Icon.Pause}
              onAction={() => steered("toggle")}
            />
            <MenuBarExtra.Item title="Skip Sentence" icon={Icon.Forward} onAction={() => steered("skip")} />
            <MenuBarExtra.Item title="Previous Sentence" icon={Icon.Rewind} onAction={() => steered("back")} />
            <MenuBarExtra.Item title="Faster" icon={Icon.Plus} onAction={() => steered("faster")} />
            <MenuBarExtra.Item title="Slower" icon={Icon.Minus} onAction={() => steered("slower")} />
            <MenuBarExtra.Item title="Stop" icon={Icon.Stop} onAction={() => steered("stop")} />
          </MenuBarExtra.Section>
          <Queue queue={now.queue} />
        </>
      )}
      <MenuBarExtra.Section>
        <MenuBarExtra.Item title="Preferences…" onAction={() => void openCommandPreferences()} />
      </MenuBarExtra.Section>
    </MenuBarExtra>
  );
}

function Queue({ queue }: { queue: PlayState["queue"] }) {
  if (queue.length === 0) return null;
  return (
    <MenuBarExtra.Section title="Next: Choose One to Remove It">
      {queue.map(({ id, title, characters }) => (
        <MenuBarExtra.Item
          key={id}
          title={short(title || `${characters} characters`)}
          icon={Icon.MinusCircle}
          onAction={() => void reported(() => end(id))}
        />
      ))}
    </MenuBarExtra.Section>
  );
}

/** The state; undefined if the server can't tell, which is told only to a user who has asked. */
async function current(): Promise<PlayState | undefined> {
  if (environment.launchType === LaunchType.UserInitiated) return reported(state);
  return state().catch(() => undefined);
}

function iconOf(now: PlayState | undefined): Icon {
  return now?.state === "paused" ? Icon.Pause : Icon.SpeakerHigh;
}

function titleOf(now: PlayState): string {
  return now.state === "idle" ? "" : now.sentence || now.title || "";
}

/** Time and expected length, as in "0:07 of 1:30 · 1.25×". */
function progressOf({ seconds, of, speed }: PlayState): string {
  return `${clock(seconds ?? 0)} of ${clock(of ?? 0)} · ${speed}×`;
}

function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function short(text: string): string {
  return text.length > TITLE_LENGTH ? `${text.slice(0, TITLE_LENGTH - 1)}…` : text;
}
