import type { RunEventKind } from "@reeve/contracts/run";

/**
 * Says yes or no for every kind of event, so that a kind added to the contract does not compile until each table decides
 * about it.
 */
export type KindTable = Readonly<Record<RunEventKind, boolean>>;

/**
 * Returns a filter that accepts the kinds for which the table says yes, and the kinds that only a newer version knows: a
 * projection must see them to report that it does not reflect them.
 */
export function kindsIn(table: KindTable): { has(kind: string): boolean } {
  const byKind = new Map<string, boolean>(Object.entries(table));
  return { has: (kind) => byKind.get(kind) ?? true };
}
