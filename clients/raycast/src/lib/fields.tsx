import { Form } from "@raycast/api";
import { Voice } from "./voice";

const SPEEDS = ["0.5", "0.75", "1", "1.25", "1.5", "1.75", "2"];

/** A dropdown of voices; the first entry stands for the one in use. */
export function VoiceField({ voices }: { voices: Voice[] }) {
  return (
    <Form.Dropdown id="voice" title="Voice" defaultValue="">
      <Form.Dropdown.Item value="" title="The One in Use" />
      {voices.map((voice) => (
        <Form.Dropdown.Item key={voice.id} value={voice.id} title={voice.id} />
      ))}
    </Form.Dropdown>
  );
}

/** A dropdown of speeds; the first entry stands for the one of the preferences. */
export function SpeedField() {
  return (
    <Form.Dropdown id="speed" title="Speed" defaultValue="">
      <Form.Dropdown.Item value="" title="As in the Preferences" />
      {SPEEDS.map((speed) => (
        <Form.Dropdown.Item key={speed} value={speed} title={`${speed}×`} />
      ))}
    </Form.Dropdown>
  );
}
