import type { RunKey, RunTailReader } from "@reeve/jetstream/log/run-log";
import { isTerminal } from "../head/run-status.ts";

/** Whether nothing more happens for a run: its log does not exist, or ends with the terminal status. Reads the last batch only. */
export async function isRunOver(
  logEnds: RunTailReader,
  key: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  const { events } = await logEnds.last(key, signal);
  return (
    events.length === 0 ||
    events.some(({ event }) => event.case === "status" && isTerminal(event.value.status))
  );
}
