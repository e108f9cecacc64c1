import type { Memory } from "@reeve/contracts/memory";
import { updatedAtMs } from "./rank-memories.ts";

/** The day on which a memory was said last: `2026-03-01`. */
export function updatedOn(memory: Memory): string {
  return new Date(updatedAtMs(memory)).toISOString().slice(0, 10);
}
