import type { Key } from "./key.ts";

/** What a person is asked in the last line of the screen. */
export interface Prompt {
  readonly kind: "approve" | "reject" | "grant" | "comment" | "filter";
  /** The approval that it is about; undefined for a filter. */
  readonly approvalId?: string | undefined;
  readonly question: string;
  readonly text: string;
}

/** The longest text that can be typed. */
const maxLength = 4_000;

/** Returns the prompt after a key that edits its text. */
export function edited(prompt: Prompt, { name, text, isControl }: Key): Prompt {
  if (name === "backspace") return { ...prompt, text: prompt.text.replace(/.$/su, "") };
  if (isControl && name === "u") return { ...prompt, text: "" };
  return isControl ? prompt : withText(prompt, text);
}

/** Returns the prompt with a text at its end. A text that is too long is left out as a whole: a part may say something else. */
export function withText(prompt: Prompt, text: string): Prompt {
  if (prompt.text.length + text.length > maxLength) return prompt;
  return { ...prompt, text: prompt.text + text };
}
