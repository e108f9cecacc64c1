import { malformed } from "./malformed.ts";
import type { Fields } from "./merge-delta.ts";
import { isFields } from "./merge-delta.ts";

/** A field that is an object. Throws a ModelFailure when it is none. */
export function fieldsIn(fields: Fields, key: string): Fields {
  const value = fields[key];
  if (!isFields(value)) throw malformed(`${key} is not an object`);
  return value;
}

/** A field that is a text; empty when it is not there. Throws a ModelFailure when it is something else. */
export function textIn(fields: Fields, key: string): string {
  const value = fields[key] ?? "";
  if (typeof value !== "string") throw malformed(`${key} is not a text`);
  return value;
}
