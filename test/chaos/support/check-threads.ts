import type { ThreadEvent } from "@reeve/contracts/thread";

/** What is wrong with the turns of a thread: each run has one, in the order of the queue, one at a time. */
export function threadViolations(
  thread: string,
  events: readonly ThreadEvent[],
  runs: readonly string[],
): readonly string[] {
  const broken: string[] = [];
  const queued: string[] = [];
  const ended = new Set<string>();
  let current: string | undefined;
  for (const [index, { sequence, event }] of events.entries()) {
    if (sequence !== index + 1) broken.push(`event ${index + 1} has the sequence ${sequence}`);
    if (event.case === "turnQueued") {
      const { runId } = event.value;
      if (queued.includes(runId)) broken.push(`${runId} is queued twice`);
      queued.push(runId);
    } else if (event.case === "turnStarted") {
      const { runId } = event.value;
      if (current !== undefined) broken.push(`${runId} starts beside ${current}`);
      const next = queued.find((waiting) => !ended.has(waiting));
      if (runId !== next) broken.push(`${runId} starts out of turn`);
      current = runId;
    } else if (event.case === "turnEnded") {
      const { runId } = event.value;
      if (ended.has(runId)) broken.push(`the turn of ${runId} ends twice`);
      if (!queued.includes(runId)) broken.push(`the turn of ${runId} ends, which was never queued`);
      ended.add(runId);
      if (current === runId) current = undefined;
    }
  }
  for (const run of runs) {
    if (!ended.has(run)) broken.push(`the turn of ${run} has not ended`);
  }
  return broken.map((what) => `thread ${thread}: ${what}`);
}
