import { malformed } from "./malformed.ts";
import type { Fields } from "./merge-delta.ts";
import { isFields } from "./merge-delta.ts";

/** Returns a field that is an object. Throws a ModelFailure if it is not. */
export function fieldsIn(fields: Fields, key: string): Fields {
  const value = fields[key];
  if (!isFields(value)) throw malformed(`${key} is not an object`);
  return value;
}

/** Returns a field that is a string, empty if it is missing. Throws a ModelFailure if it is anything else. */
export function textIn(fields: Fields, key: string): string {
  const value = fields[key] ?? "";
  if (typeof value !== "string") throw malformed(`${key} is not a string`);
  return value;
}
