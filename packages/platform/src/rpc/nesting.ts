/** How deep a request may be nested, JSON inside included: what is kept in a log may be a little less. */
export const maxRequestLevels = 32;

/** Whether something in a value lies deeper than `levels`. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
