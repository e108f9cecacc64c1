import type { Approval } from "@reeve/contracts/approval";
import { oneLine } from "../plain-text.ts";
import { shortArguments } from "../tool.ts";

/** Some of a text is shown, however long the mark is. */
const minWidth = 10;

/** What a person decides about, on one line. */
export interface Skimmed {
  readonly text: string;
  /** Whether something is left out. The text then ends with a mark that says so: nobody takes a part for the whole. */
  readonly isShortened: boolean;
}

/** Returns the arguments of a call, or the message of a question, in `width` characters. */
export function skim(
  { call, question }: Pick<Approval, "call" | "question">,
  width: number,
): Skimmed {
  if (question !== undefined) {
    const whole = oneLine(`asks: ${question.message}`, Infinity);
    return marked(whole, whole, width);
  }
  const args = call?.arguments ?? {};
  return marked(shortArguments(args), shortArguments(args, Infinity), width);
}

function marked(short: string, whole: string, width: number): Skimmed {
  const shown = oneLine(short, Infinity);
  if (short === whole && shown.length <= width) return { text: shown, isShortened: false };
  const mark = ` [shortened: ${whole.length} characters in all]`;
  const text = `${oneLine(short, Math.max(width - mark.length, minWidth))}${mark}`;
  return { text, isShortened: true };
}
