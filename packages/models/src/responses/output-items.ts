import type { ResponseInputItem } from "openai/resources/responses/responses";
import type { Fields } from "../wire/merge-delta.ts";
import { isFields } from "../wire/merge-delta.ts";

/** The items of an answer as they go back: verbatim, but for reasoning that the API would refuse to see again. */
export function itemsToSendBack(
  messageJson: string,
  reasons: boolean,
): readonly ResponseInputItem[] {
  // What is recorded in this format is an object with the items that the provider sent.
  const { output } = JSON.parse(messageJson) as { readonly output: readonly Fields[] };
  // Reasoning after which nothing came is refused: it stands when the answer was cut in the middle of it.
  const end = output.findLastIndex(({ type }) => type !== "reasoning") + 1;
  const items = output.slice(0, end).filter((item) => isKept(item, reasons));
  return items as readonly object[] as readonly ResponseInputItem[];
}

/** The provider keeps no items: of reasoning it knows no more than what the item itself holds. */
function isKept({ type, encrypted_content: encrypted, content }: Fields, reasons: boolean) {
  if (type !== "reasoning") return true;
  if (!reasons) return false;
  return (
    (typeof encrypted === "string" && encrypted !== "") ||
    (Array.isArray(content) && content.length > 0)
  );
}

/** What of an item is said: the texts of its parts of a type, joined. */
export function textInParts(
  { content }: Fields,
  type: "output_text" | "refusal",
  field: "text" | "refusal",
): string {
  if (!Array.isArray(content)) return "";
  const parts = content.filter(isFields).filter((part) => part["type"] === type);
  return parts.map((part) => (typeof part[field] === "string" ? part[field] : "")).join("");
}
