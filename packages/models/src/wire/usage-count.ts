import { isFields } from "./merge-delta.ts";

/** Whether a provider's value is a number of tokens. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** A number of tokens among details that may be missing; 0 when it is not told. */
export function countIn(details: unknown, key: string): number {
  const count = isFields(details) ? details[key] : undefined;
  return isCount(count) ? count : 0;
}
