const maxMs = 365 * 86_400_000;

/**
 * Returns the milliseconds that a response asks to wait: by `retry-after-ms`, or by `retry-after` in seconds or as a date.
 * Undefined: it has none of them, or an invalid one. At most a year: a longer
 * time has no meaning, and would exceed what a duration can hold.
 */
export function retryAfterMs(headers: Headers | undefined, nowMs: number): number | undefined {
  const milliseconds = headers?.get("retry-after-ms")?.trim();
  if (milliseconds !== undefined && isNumber(milliseconds)) return limited(Number(milliseconds));
  const after = headers?.get("retry-after")?.trim();
  if (after === undefined || after === "") return undefined;
  if (isNumber(after)) return limited(Math.round(Number(after) * 1_000));
  const date = Date.parse(after);
  // An HTTP date starts with the name of a day. `Date.parse` accepts more than that.
  return Number.isNaN(date) || !/^[A-Z]/i.test(after) ? undefined : limited(date - nowMs);
}

function limited(delayMs: number): number {
  return Math.min(Math.max(0, delayMs), maxMs);
}

function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}
