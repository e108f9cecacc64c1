import type { Fields } from "../wire/merge-delta.ts";
import { isFields } from "../wire/merge-delta.ts";

/** Returns arguments in the format of the Messages API: always an object, even if the model wrote none. */
export function toolInput(argumentsText: string): Fields {
  if (argumentsText.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (isFields(value)) return value;
  } catch {
    // The model reads invalid arguments as it wrote them, see below.
  }
  return { unparsed: argumentsText };
}
