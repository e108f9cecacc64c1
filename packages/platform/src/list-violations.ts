import type { Violation } from "./failure.ts";

/** How many violations an error reports. */
export const maxViolations = 50;
/** The maximum length of the texts of all of them. With gRPC, they are headers, of which some clients accept few KiB. */
const maxCharacters = 12 * 1024;
/** The maximum length of one path or description. */
const maxText = 500;

/** Returns the violations that an error reports: the first ones, with texts of bounded length. */
export function reportedViolations(violations: readonly Violation[]): readonly Violation[] {
  const reported: Violation[] = [];
  let left = maxCharacters;
  for (const { field, description, reason } of violations) {
    const short = {
      field: shortened(field, maxText),
      description: shortened(description, maxText),
      reason: shortened(reason, maxText),
    };
    left -= short.field.length + short.description.length + short.reason.length;
    if (reported.length === maxViolations || left < 0) break;
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

/** Cuts a text to `maxLength` characters. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
