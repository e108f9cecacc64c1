import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus, RunStatusSchema } from "@reeve/contracts/run";
import { endsRun, eventSelection } from "@reeve/gateway/app/event-selection";
import { orderViolations } from "@reeve/engine/test/support/event-order";
import { callViolations } from "./check-calls.ts";
import type { RunEvidence } from "./evidence.ts";

const isVisible = eventSelection({ case: undefined });

/** Every promise that a run broke. */
export function runViolations(evidence: RunEvidence): readonly string[] {
  const { plan, seen, stuck, stored } = evidence;
  const name = `run ${plan.index} (${seen.runId})`;
  const broken = [
    ...seen.wrong,
    ...(stuck === undefined
      ? endViolations(evidence)
      : [`did not end; its log ends with ${lastOf(stored)}; ${stuck}`]),
    ...streamViolations(evidence),
    ...orderViolations(upToEnd(stored), stuck === undefined),
    ...callViolations(evidence),
  ];
  return broken.map((what) => `${name}: ${what}`);
}

/** How the run ended; undefined: it did not. */
export function endOf(stored: readonly RunEvent[]): RunStatus | undefined {
  const end = stored.find(endsRun)?.event;
  return end?.case === "status" ? end.value.status : undefined;
}

function endViolations({ plan, seen, stored, shown }: RunEvidence): readonly string[] {
  const broken: string[] = [];
  const ends = stored.filter(endsRun);
  if (ends.length !== 1) broken.push(`has ${ends.length} terminal events`);
  const end = endOf(stored);
  const wanted =
    seen.cancel === "cancelled" ? [RunStatus.CANCELLED] : allowed(plan.cancelAfterMs, seen.cancel);
  if (end !== undefined && !wanted.includes(end)) {
    broken.push(`ended as ${nameOf(end)}, its cancellation was answered with ${seen.cancel}`);
  }
  for (const status of shown) {
    if (status !== end) broken.push(`a gateway shows it as ${nameOf(status)}`);
  }
  return broken;
}

function nameOf(status: RunStatus): string {
  return RunStatusSchema.value[status]?.localName ?? String(status);
}

/** A cancellation whose answer its client did not wait for may have come in time or not. */
function allowed(
  cancelAfterMs: number | undefined,
  answer: "none" | "ended",
): readonly RunStatus[] {
  const isOpen = answer === "none" && cancelAfterMs !== undefined;
  return isOpen ? [RunStatus.COMPLETED, RunStatus.CANCELLED] : [RunStatus.COMPLETED];
}

/** What was watched is what is stored, each event once, and nothing that a client sees follows the end. */
function streamViolations({ seen, stored, stuck }: RunEvidence): readonly string[] {
  const broken: string[] = [];
  for (const [index, { sequence }] of stored.entries()) {
    if (sequence !== index + 1) broken.push(`event ${index + 1} has the sequence ${sequence}`);
  }
  const whole = upToEnd(stored);
  for (const event of stored.slice(whole.length)) {
    if (isVisible(event)) broken.push(`${event.event.case} ${event.sequence} follows the end`);
  }
  if (stuck === undefined && seen.events.length !== whole.length) {
    broken.push(`its client saw ${seen.events.length} of ${whole.length} events`);
  }
  const different = seen.events.findIndex((event, index) => !isSame(event, stored[index]));
  if (different >= 0) broken.push(`its client saw another event ${different + 1} than is stored`);
  return broken;
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
