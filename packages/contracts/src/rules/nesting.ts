import type { BinaryReadOptions } from "@bufbuild/protobuf";

/**
 * How deep JSON in a log may be nested. Readers of messages stop at a depth of 100 by default, and each level of JSON takes three.
 * Deeper JSON would make the whole log unreadable.
 */
export const maxJsonDepth = 24;

/** The options for reading stored messages. Their higher limit makes sure that a record which was accepted once can be read. */
export const storedReadOptions: Partial<BinaryReadOptions> = { recursionLimit: 1_000 };

/**
 * Returns whether a log can store a JSON value unchanged: it has at most `levels` levels, and neither infinite numbers, NaN, nor
 * lone surrogates.
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
