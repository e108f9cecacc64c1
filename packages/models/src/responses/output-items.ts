import type { ResponseInputItem } from "openai/resources/responses/responses";
import type { Fields } from "../wire/merge-delta.ts";
import { isFields } from "../wire/merge-delta.ts";

/** Returns the items of an answer to send back: verbatim, without the reasoning items that the API would refuse. */
export function itemsToSendBack(
  messageJson: string,
  reasons: boolean,
): readonly ResponseInputItem[] {
  // A message in this format is an object with the items that the provider sent.
  const { output } = JSON.parse(messageJson) as { readonly output: readonly Fields[] };
  // The API refuses reasoning at the end, which is there when the answer was cut during the reasoning.
  const end = output.findLastIndex(({ type }) => type !== "reasoning") + 1;
  const items = output.slice(0, end).filter((item) => isKept(item, reasons));
  return items as readonly object[] as readonly ResponseInputItem[];
}

/** The provider stores no items, so a reasoning item is useful only with its content. */
function isKept({ type, encrypted_content: encrypted, content }: Fields, reasons: boolean) {
  if (type !== "reasoning") return true;
  if (!reasons) return false;
  return (
    (typeof encrypted === "string" && encrypted !== "") ||
    (Array.isArray(content) && content.length > 0)
  );
}

/** Returns the joined texts of an item's parts of one type. */
export function textInParts(
  { content }: Fields,
  type: "output_text" | "refusal",
  field: "text" | "refusal",
): string {
  if (!Array.isArray(content)) return "";
  const parts = content.filter(isFields).filter((part) => part["type"] === type);
  return parts.map((part) => (typeof part[field] === "string" ? part[field] : "")).join("");
}
