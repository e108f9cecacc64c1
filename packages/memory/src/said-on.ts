import type { Memory } from "@reeve/contracts/memory";
import { saidAtMs } from "./rank-memories.ts";

/** The day on which a memory was said last: `2026-03-01`. */
export function saidOn(memory: Memory): string {
  return new Date(saidAtMs(memory)).toISOString().slice(0, 10);
}
