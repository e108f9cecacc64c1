import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus, RunStatusSchema } from "@reeve/contracts/run";
import { endsRun, eventSelection } from "@reeve/gateway/app/event-selection";
import { orderViolations } from "@reeve/engine/test/support/event-order";
import { callViolations } from "./check-calls.ts";
import type { RunEvidence } from "./evidence.ts";

const isVisible = eventSelection({ case: undefined });

/** Returns all guarantees that a run violated. */
export function runViolations(evidence: RunEvidence): readonly string[] {
  const { plan, seen, stuck, stored } = evidence;
  const name = `run ${plan.index} (${seen.runId})`;
  const violations = [
    ...seen.errors,
    ...(stuck === undefined
      ? endViolations(evidence)
      : [`did not end: its log ends with ${lastOf(stored)}; ${stuck}`]),
    ...streamViolations(evidence),
    ...orderViolations(upToEnd(stored), stuck === undefined),
    ...callViolations(evidence),
  ];
  return violations.map((what) => `${name}: ${what}`);
}

/** Returns the run's terminal status, or undefined if it has none. */
export function endOf(stored: readonly RunEvent[]): RunStatus | undefined {
  const end = stored.find(endsRun)?.event;
  return end?.case === "status" ? end.value.status : undefined;
}

function endViolations({ plan, seen, stored, shown }: RunEvidence): readonly string[] {
  const violations: string[] = [];
  const ends = stored.filter(endsRun);
  if (ends.length !== 1) violations.push(`has ${ends.length} terminal events`);
  const end = endOf(stored);
  const wanted =
    seen.cancel === "cancelled" ? [RunStatus.CANCELLED] : allowed(plan.cancelAfterMs, seen.cancel);
  if (end !== undefined && !wanted.includes(end)) {
    const why = errorOf(stored);
    violations.push(
      `ended as ${nameOf(end)}${why}, but the answer to its cancellation was ${seen.cancel}`,
    );
  }
  for (const status of shown) {
    if (status !== end) violations.push(`a gateway shows it as ${nameOf(status)}`);
  }
  return violations;
}

/** Returns why a run ended with an error, as the end of a clause. */
function errorOf(stored: readonly RunEvent[]): string {
  const error = stored.findLast(({ event }) => event.case === "error")?.event;
  return error?.case === "error" ? ` (${error.value.reason}: ${error.value.message})` : "";
}

function nameOf(status: RunStatus): string {
  return RunStatusSchema.value[status]?.localName ?? String(status);
}

/** Returns the permitted ends. A cancellation whose client did not wait for the answer may or may not have taken effect. */
function allowed(
  cancelAfterMs: number | undefined,
  answer: "none" | "ended",
): readonly RunStatus[] {
  const isOpen = answer === "none" && cancelAfterMs !== undefined;
  return isOpen ? [RunStatus.COMPLETED, RunStatus.CANCELLED] : [RunStatus.COMPLETED];
}

/** Checks that the client saw each stored event exactly once, and that no visible event follows the end. */
function streamViolations({ seen, stored, stuck }: RunEvidence): readonly string[] {
  const violations: string[] = [];
  for (const [index, { sequence }] of stored.entries()) {
    if (sequence !== index + 1) violations.push(`event ${index + 1} has the sequence ${sequence}`);
  }
  const whole = upToEnd(stored);
  for (const event of stored.slice(whole.length)) {
    if (isVisible(event)) violations.push(`${event.event.case} ${event.sequence} follows the end`);
  }
  if (stuck === undefined && seen.events.length !== whole.length) {
    violations.push(`its client saw ${seen.events.length} of ${whole.length} events`);
  }
  const different = seen.events.findIndex((event, index) => !isSame(event, stored[index]));
  if (different >= 0)
    violations.push(`its client saw a different event ${different + 1} from the stored one`);
  return violations;
}

function isSame(seen: RunEvent, stored: RunEvent | undefined): boolean {
  if (stored === undefined) return false;
  const [one, other] = [toBinary(RunEventSchema, seen), toBinary(RunEventSchema, stored)];
  return Buffer.compare(one, other) === 0;
}

function upToEnd(stored: readonly RunEvent[]): readonly RunEvent[] {
  const end = stored.findIndex(endsRun);
  return end < 0 ? stored : stored.slice(0, end + 1);
}

function lastOf(stored: readonly RunEvent[]): string {
  const last = stored.slice(-6).map(({ event, sequence }) => `${sequence} ${event.case}`);
  return last.length === 0 ? "nothing" : last.join(", ");
}
