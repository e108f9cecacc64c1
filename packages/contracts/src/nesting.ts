import type { BinaryReadOptions } from "@bufbuild/protobuf";

/**
 * How deep records that are kept in a log may be nested. A reader of messages gives up at a depth of 100, of which a level
 * of JSON takes three: what is deeper would make a log that nobody can read.
 */
export const maxJsonDepth = 24;

/** How what is stored is read: whatever was let in once is not to make a whole log unreadable. */
export const storedReadOptions: Partial<BinaryReadOptions> = { recursionLimit: 1_000 };

/**
 * Whether a log can hold a value as it is: no deeper than `levels`, and without numbers beyond all bounds and halves of
 * characters.
 */
export function isStorable(value: unknown, levels = maxJsonDepth): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  return Object.entries(value).every(
    ([key, inner]) => key.isWellFormed() && isStorable(inner, levels - 1),
  );
}
