import type { RunClaimed } from "@reeve/contracts/run";
import { OwnerFate, RunStatus } from "@reeve/contracts/run";
import type { NoteItem, RunModel } from "./run-model.ts";

type Note = Pick<NoteItem, "tone" | "text"> & { readonly detail: string };

/**
 * Returns what a claim says about the worker before. Undefined: nothing happened to it. A run that waits has no worker, so that the
 * next claim continues it after a decision or a wait.
 */
export function takeoverOf(
  { status, worker: before }: Pick<RunModel, "status" | "worker">,
  { epoch, previousOwner, worker }: RunClaimed,
): Note | undefined {
  if (epoch <= 1 || status === RunStatus.WAITING || previousOwner === OwnerFate.ENDED) {
    return undefined;
  }
  const detail = `before: ${before || "unknown"}\nnow: ${worker}`;
  return { tone: "warn", text: `${whatHappened(previousOwner)}; ${who(before, worker)}`, detail };
}

function whatHappened(fate: OwnerFate): string {
  if (fate === OwnerFate.CRASHED) return "The worker was lost";
  return fate === OwnerFate.ALIVE
    ? "The worker stood still"
    : "It is not known what became of the worker";
}

function who(before: string, worker: string): string {
  return before === worker ? "it continues the run" : "another one continues the run";
}
