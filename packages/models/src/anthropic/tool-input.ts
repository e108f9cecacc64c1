import type { Fields } from "../wire/merge-delta.ts";
import { isFields } from "../wire/merge-delta.ts";

/** Arguments as the Messages API takes them back: an object, even if the model wrote none. */
export function toolInput(argumentsText: string): Fields {
  if (argumentsText.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (isFields(value)) return value;
  } catch {
    // What cannot be read is shown to the model as it wrote it, below.
  }
  return { unparsed: argumentsText };
}
