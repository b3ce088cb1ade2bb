import { Action, ActionPanel, Icon, List, openExtensionPreferences, showToast, Toast } from "@raycast/api";
import { reported } from "./lib/failures";
import { refreshMenuBar } from "./lib/menu-bar";
import { speak } from "./lib/player";
import { useLoaded } from "./lib/use-loaded";
import { choose, chosenVoice, Voice, voiceOfPreferences, voices } from "./lib/voice";

export default function Voices() {
  const { data, isLoading, reload } = useLoaded(load);
  const languages = [...new Set(data?.voices.map((voice) => voice.language ?? ""))];
  return (
    <List isLoading={isLoading} searchBarPlaceholder="Search voices">
      {languages.map((language) => (
        <List.Section key={language} title={nameOf(language)}>
          {data?.voices
            .filter((voice) => (voice.language ?? "") === language)
            .map((voice) => (
              <Item key={voice.id} voice={voice} chosen={voice.id === data.chosen} onChosen={reload} />
            ))}
        </List.Section>
      ))}
    </List>
  );
}

function Item({ voice, chosen, onChosen }: { voice: Voice; chosen: boolean; onChosen: () => void }) {
  return (
    <List.Item
      title={voice.id}
      subtitle={voice.gender ?? ""}
      keywords={[nameOf(voice.language ?? "")]}
      accessories={chosen ? [{ icon: Icon.Checkmark, tooltip: "In use" }] : []}
      actions={
        <ActionPanel>
          <Action title="Preview" icon={Icon.Play} onAction={() => preview(voice)} />
          <Action title="Use This Voice" icon={Icon.Checkmark} onAction={() => use(voice, onChosen)} />
          <Action.CopyToClipboard title="Copy Name" content={voice.id} />
        </ActionPanel>
      }
    />
  );
}

async function load() {
  const found = await voices();
  return { voices: found.voices, chosen: (await chosenVoice()) ?? found.default_voice };
}

async function preview(voice: Voice) {
  await reported(async () => {
    const input = voice.language?.startsWith("en") === false ? voice.id : `Hello, this is ${spoken(voice.id)}.`;
    await speak({ input, voice: voice.id, title: voice.id, on_busy: "interrupt" });
    await refreshMenuBar();
  });
}

async function use(voice: Voice, onChosen: () => void) {
  if (voiceOfPreferences()) {
    await showToast({
      style: Toast.Style.Failure,
      title: `The preferences name ${voiceOfPreferences()}`,
      message: "Empty the voice there to choose one here.",
      primaryAction: { title: "Open Preferences", onAction: () => void openExtensionPreferences() },
    });
    return;
  }
  await choose(voice.id);
  await showToast({ style: Toast.Style.Success, title: `${voice.id} will speak` });
  onChosen();
}

/** The name within a voice's id: Kokoro's ids begin with language and gender, as in af_heart. */
function spoken(id: string): string {
  return id.replace(/^[a-z]{2}_/, "").replace(/[_-]+/g, " ");
}

function nameOf(language: string): string {
  try {
    return (language && new Intl.DisplayNames("en-US", { type: "language" }).of(language)) || "Other Languages";
  } catch {
    return language;
  }
}
