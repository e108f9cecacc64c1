import { isFields } from "./merge-delta.ts";

/** Whether a value of a provider is a number of tokens. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Returns a number of tokens from details that may be missing; 0 if there is none. */
export function countIn(details: unknown, key: string): number {
  const count = isFields(details) ? details[key] : undefined;
  return isCount(count) ? count : 0;
}
