/**
 * Returns the milliseconds that a response asks to wait: by `retry-after-ms`, or by `retry-after` in seconds or as a date.
 * Undefined: it has none of them, or an invalid one.
 */
export function retryAfterMs(headers: Headers | undefined, nowMs: number): number | undefined {
  const milliseconds = headers?.get("retry-after-ms")?.trim();
  if (milliseconds !== undefined && isNumber(milliseconds)) return Number(milliseconds);
  const after = headers?.get("retry-after")?.trim();
  if (after === undefined || after === "") return undefined;
  if (isNumber(after)) return Math.round(Number(after) * 1_000);
  const date = Date.parse(after);
  // An HTTP date starts with the name of a day. `Date.parse` accepts more than that.
  return Number.isNaN(date) || !/^[A-Z]/i.test(after) ? undefined : Math.max(0, date - nowMs);
}

function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}
