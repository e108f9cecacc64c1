import type { Violation } from "./failure.ts";

/** How many violations an error reports. */
export const maxViolations = 50;
/** The maximum length of the texts of all of them. */
const maxCharacters = 12 * 1024;
/** The maximum length of one path or description. */
const maxText = 500;

/**
 * Returns the violations that an error reports: the first ones, with texts of bounded length. With `part`, a part of the
 * maximum number and lengths, but at least one violation.
 */
export function reportedViolations(
  violations: readonly Violation[],
  part = 1,
): readonly Violation[] {
  const reported: Violation[] = [];
  const count = Math.max(1, Math.floor(maxViolations * part));
  const length = Math.floor(maxText * Math.min(1, part * 4));
  let left = maxCharacters;
  for (const { field, description, reason } of violations) {
    const short = {
      field: shortened(field, length),
      description: shortened(description, length),
      reason: shortened(reason, length),
    };
    left -= short.field.length + short.description.length + short.reason.length;
    if (reported.length === count || left < 0) break;
    reported.push(short);
  }
  return reported;
}

/** Lists violations in one text: the first ones, and how many more there are. */
export function listViolations(violations: readonly Violation[]): string {
  const reported = reportedViolations(violations);
  const list = reported.map(({ field, description }) => `${field}: ${description}`);
  const more = violations.length - reported.length;
  return [...(more > 0 ? [`${more} more violations than are listed`] : []), ...list].join("; ");
}

/** Cuts a text to `maxLength` characters. Halves of surrogate pairs, which no protocol can transfer, are replaced. */
export function shortened(text: string, maxLength: number): string {
  const short = text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
  return short.toWellFormed();
}
