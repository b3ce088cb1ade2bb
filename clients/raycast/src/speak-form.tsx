import { Action, ActionPanel, Form, Icon, popToRoot, showHUD } from "@raycast/api";
import { useState } from "react";
import { reported } from "./lib/failures";
import { SpeedField, VoiceField } from "./lib/fields";
import { refreshMenuBar } from "./lib/menu-bar";
import { speak, Wish } from "./lib/player";
import { useLoaded } from "./lib/use-loaded";
import { voices } from "./lib/voice";

interface Values {
  text: string;
  title: string;
  voice: string;
  speed: string;
  onBusy: string;
}

export default function SpeakForm() {
  const { data, isLoading } = useLoaded(voices);
  const [missing, setMissing] = useState<string>();

  async function submit(values: Values) {
    if (!values.text.trim()) {
      setMissing("Enter a text");
      return;
    }
    await reported(async () => {
      await speak(wishOf(values));
      await refreshMenuBar();
      await showHUD("Speaking");
      await popToRoot();
    });
  }

  return (
    <Form
      isLoading={isLoading}
      actions={
        <ActionPanel>
          <Action.SubmitForm<Values> title="Speak" icon={Icon.SpeakerHigh} onSubmit={submit} />
        </ActionPanel>
      }
    >
      <Form.TextArea id="text" title="Text" error={missing} onChange={() => setMissing(undefined)} />
      <Form.TextField id="title" title="Title" placeholder="Shown in the menu bar" />
      <VoiceField voices={data?.voices ?? []} />
      <SpeedField />
      <Form.Dropdown id="onBusy" title="While Another Text Is Spoken" defaultValue="">
        <Form.Dropdown.Item value="" title="As in the Preferences" />
        <Form.Dropdown.Item value="interrupt" title="Interrupt It" />
        <Form.Dropdown.Item value="next" title="Speak Next" />
        <Form.Dropdown.Item value="queue" title="Speak Last" />
      </Form.Dropdown>
    </Form>
  );
}

function wishOf({ text, title, voice, speed, onBusy }: Values): Wish {
  const wish: Wish = { input: text };
  if (title) wish.title = title;
  if (voice) wish.voice = voice;
  if (speed) wish.speed = Number(speed);
  if (onBusy) wish.on_busy = onBusy as Wish["on_busy"];
  return wish;
}
