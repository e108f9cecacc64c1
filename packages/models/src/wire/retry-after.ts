/**
 * How many milliseconds a response asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. Undefined:
 * it does not say, or not in a way that can be read.
 */
export function retryAfterMs(headers: Headers | undefined, nowMs: number): number | undefined {
  const milliseconds = headers?.get("retry-after-ms")?.trim();
  if (milliseconds !== undefined && isNumber(milliseconds)) return Number(milliseconds);
  const after = headers?.get("retry-after")?.trim();
  if (after === undefined || after === "") return undefined;
  if (isNumber(after)) return Math.round(Number(after) * 1_000);
  const date = Date.parse(after);
  // A date of HTTP begins with its day; what else may be parsed as a date is none.
  return Number.isNaN(date) || !/^[A-Z]/i.test(after) ? undefined : Math.max(0, date - nowMs);
}

function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}
