import type { ThreadEvent } from "@reeve/contracts/thread";

/** Returns the violations in a thread's turns: each run has one turn, in queue order, one at a time. */
export function threadViolations(
  thread: string,
  events: readonly ThreadEvent[],
  runs: readonly string[],
): readonly string[] {
  const violations: string[] = [];
  const queued: string[] = [];
  const ended = new Set<string>();
  let current: string | undefined;
  for (const [index, { sequence, event }] of events.entries()) {
    if (sequence !== index + 1) violations.push(`event ${index + 1} has the sequence ${sequence}`);
    if (event.case === "turnQueued") {
      const { runId } = event.value;
      if (queued.includes(runId)) violations.push(`${runId} is queued twice`);
      queued.push(runId);
    } else if (event.case === "turnStarted") {
      const { runId } = event.value;
      if (current !== undefined) violations.push(`${runId} starts while ${current} is active`);
      const next = queued.find((waiting) => !ended.has(waiting));
      if (runId !== next) violations.push(`${runId} starts out of turn`);
      current = runId;
    } else if (event.case === "turnEnded") {
      const { runId } = event.value;
      if (ended.has(runId)) violations.push(`the turn of ${runId} ends twice`);
      if (!queued.includes(runId))
        violations.push(`the turn of ${runId} ends but was never queued`);
      ended.add(runId);
      if (current === runId) current = undefined;
    }
  }
  for (const run of runs) {
    if (!ended.has(run)) violations.push(`the turn of ${run} has not ended`);
  }
  return violations.map((what) => `thread ${thread}: ${what}`);
}
