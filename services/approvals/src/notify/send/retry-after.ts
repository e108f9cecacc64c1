/** Returns how long an answer with the header Retry-After asks to wait: a number of seconds, or a date. 0 if it does not say. */
export function retryAfterMs(header: string | null, nowMs: number): number {
  if (header === null) return 0;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(date - nowMs, 0);
}
