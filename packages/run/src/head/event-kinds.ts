import type { RunEventKind } from "@reeve/contracts/run";

/**
 * Says yes or no for every kind of event, so that a kind added to the contract does not compile until each table decides
 * about it.
 */
export type KindTable = Readonly<Record<RunEventKind, boolean>>;

/** Returns the kinds for which the table says yes. */
export function kindsIn(table: KindTable): ReadonlySet<RunEventKind> {
  return new Set((Object.keys(table) as RunEventKind[]).filter((kind) => table[kind]));
}
