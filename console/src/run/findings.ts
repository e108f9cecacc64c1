import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import type { NamedTone } from "../format/names.ts";
import { msOf } from "../format/time.ts";
import { nameOfApproval, nameOfCall } from "../format/names.ts";
import { resultLine, stateOfCall } from "./call-state.ts";
import type { Frame, RunModel } from "./run-model.ts";
import { whyWithheld } from "./withheld.ts";

/** A subtask or a call that failed. */
export interface Failure {
  readonly key: string;
  /** The titles of the subtasks that contain it, from the outermost. */
  readonly path: readonly string[];
  readonly name: string;
  readonly why: string;
  /** What a subtask has cost. 0: nothing is known, as of calls. */
  readonly costUsd: number;
  /** Why the tool of a call was not allowed in the run. Undefined: it was. */
  readonly withheld?: string;
  /** Whether it ended a part of the run, or the run. */
  readonly isEnd: boolean;
  /** Sequence of the event with which it failed. 0: there is none. */
  readonly sequence: number;
}

/** The key of the failure of the run itself, beside the ids of subtasks and the keys of calls. */
const runKey = "run";

/** What people, rules, or times decided about a call. */
export interface Decided {
  readonly key: string;
  readonly name: string;
  readonly state: NamedTone;
  readonly by: string;
  readonly reason: string;
  /** Undefined: there was no decision. */
  readonly atMs: number | undefined;
  readonly votes: Approval["votes"];
}

/**
 * Returns the failure that ended the run, or else the one that ended its outermost part, of several the last one. Undefined: only calls
 * failed, and their callers continued.
 */
export function decisiveFailure(failures: readonly Failure[]): Failure | undefined {
  const ended = failures.filter(({ isEnd }) => isEnd);
  const depth = Math.min(...ended.map(({ path }) => path.length));
  return (
    ended.find(({ key }) => key === runKey) ?? ended.findLast(({ path }) => path.length === depth)
  );
}

/** Returns the run, the subtasks, and the calls that failed, in the order in which they failed. */
export function failuresOf(run: RunModel): readonly Failure[] {
  const subtasks = [...run.frames.values()]
    .filter(({ kind, state }) => kind === "subtask" && state === "failed")
    .map((frame) => ({
      key: frame.id,
      path: pathOf(frame.parent),
      name: frame.title || "Subtask",
      why: frame.message,
      costUsd: frame.costUsd,
      isEnd: true,
      sequence: frame.endSequence,
    }));
  const calls = [...run.calls.values()]
    // A call that started a subtask fails with it.
    .filter((call) => call.subtasks.length === 0 && stateOfCall(call, run).tone === "bad")
    .map((call) => ({
      key: call.key,
      path: pathOf(call.frame),
      name: call.call.nodeId || call.call.name,
      why: resultLine(call, 300),
      costUsd: 0,
      isEnd: false,
      sequence: call.endSequence,
      ...withheldOf(run, call.call.name),
    }));
  return [...subtasks, ...calls]
    .toSorted((one, other) => one.sequence - other.sequence)
    .concat(failureOfRun(run));
}

function withheldOf(run: RunModel, tool: string): Pick<Failure, "withheld"> {
  const withheld = whyWithheld(run, tool);
  return withheld === undefined ? {} : { withheld };
}

/** Returns how many subtasks and calls failed inside of a frame, however deep. */
export function failuresInside(frame: Frame, run: RunModel): number {
  let count = 0;
  for (const item of frame.items) {
    if (item.kind !== "call") continue;
    const { subtasks } = item;
    if (subtasks.length === 0 && stateOfCall(item, run).tone === "bad") count++;
    for (const each of subtasks) {
      count += (each.state === "failed" ? 1 : 0) + failuresInside(each, run);
    }
  }
  return count;
}

function failureOfRun({ status, error, statusMessage, events }: RunModel): readonly Failure[] {
  if (status !== RunStatus.ERROR) return [];
  const why = error?.message || error?.reason || statusMessage;
  const sequence = events.findLast(({ event }) => event.case === "status")?.sequence ?? 0;
  return [{ key: runKey, path: [], name: "The run", why, costUsd: 0, isEnd: true, sequence }];
}

/** Returns the decisions about calls of a run. */
export function decisionsOf(run: RunModel): readonly Decided[] {
  return [...run.approvals.values()]
    .filter(({ state }) => state !== ApprovalState.PENDING)
    .map(({ approvalId, call, state, decision, votes }) => ({
      key: approvalId,
      name: call === undefined ? approvalId : nameOfCall(call),
      state: nameOfApproval(state),
      by: byOf(decision?.decidedBy, votes),
      reason: decision?.reason ?? "",
      atMs: msOf(decision?.decidedAt),
      votes,
    }));
}

function byOf(
  decidedBy: string | undefined,
  votes: readonly { readonly decision?: { readonly decidedBy: string } | undefined }[],
): string {
  const voters = votes.flatMap(({ decision }) => decision?.decidedBy ?? []);
  return [...new Set(voters.concat(decidedBy ?? []))].filter((name) => name !== "").join(", ");
}

function pathOf(frame: Frame | undefined): readonly string[] {
  if (frame === undefined || frame.kind === "root") return [];
  return [...pathOf(frame.parent), frame.title || "Subtask"];
}
