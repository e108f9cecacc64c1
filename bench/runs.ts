import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import type { ListValue } from "@bufbuild/protobuf/wkt";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { rateOf } from "./measure.ts";
import type { Connection } from "@reeve/client";

/** A system that executes runs. */
interface Driven {
  readonly reeve: Connection;
}

/** A completed run. */
export interface WatchedRun {
  readonly runId: string;
  /** From the request to the first text, in milliseconds; 0 if it had no text. */
  readonly firstTextMs: number;
  readonly events: readonly RunEvent[];
}

/** The fields of a spec, for spreading into another one. */
type SpecInit = Omit<MessageInitShape<typeof AgentSpecSchema>, "$typeName" | "$unknown">;

/** Creates an agent whose limits are far above what a benchmark needs. */
export async function createAgent(
  { reeve }: Driven,
  spec: SpecInit,
  signal: AbortSignal,
): Promise<void> {
  const roomy = { maxRounds: 200, budgets: { maxLlmCalls: 200, maxSubtasks: 200 } };
  const init = { name: "bench", ...roomy, ...spec };
  await reeve.agents.createAgent({ spec: create(AgentSpecSchema, init) }, { signal });
}

/** Returns the list of an agent's permitted tools. */
export function tools(...names: readonly string[]): ListValue {
  return fromJson(ListValueSchema, [...names]);
}

/** Starts a run and watches it to its end. Throws if it does not complete. */
export async function run(
  { reeve }: Driven,
  agentId: string,
  signal: AbortSignal,
): Promise<WatchedRun> {
  const startedAt = performance.now();
  let firstTextMs = 0;
  const seen: RunEvent[] = [];
  const { run: started } = await reeve.runs.startRun({ agentId, input: "go" }, { signal });
  const runId = started?.runId ?? "";
  for await (const { events } of reeve.runs.watchRun({ runId }, { signal })) {
    seen.push(...events);
    if (firstTextMs === 0 && events.some(({ event }) => event.case === "text")) {
      firstTextMs = performance.now() - startedAt;
    }
  }
  const last = seen.at(-1)?.event;
  if (last?.case !== "status" || last.value.status !== RunStatus.COMPLETED) {
    throw new Error(`run ${runId} of ${agentId} did not complete: ${JSON.stringify(last?.value)}`);
  }
  const failed = seen.find(({ event }) => event.case === "toolResult" && !event.value.success);
  if (failed?.event.case === "toolResult") {
    throw new Error(`run ${runId} of ${agentId} had a failed call: ${failed.event.value.error}`);
  }
  return { runId, firstTextMs, events: seen };
}

/** Resolves when a run has ended. */
export async function ended({ reeve }: Driven, runId: string, signal: AbortSignal): Promise<void> {
  for await (const { events } of reeve.runs.watchRun({ runId }, { signal })) void events;
}

/** Starts an agent's first runs. Resolves when all of them wait for an approval. They are neither watched nor listed. */
export async function waits(
  { reeve }: Driven,
  agentId: string,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const asked = asks({ reeve }, agentId, count, until);
  await rateOf(count, 50, () => reeve.runs.startRun({ agentId, input: "go" }, { signal }));
  await asked;
  end.abort();
}

/** Resolves when `count` runs of an agent have requested an approval. */
async function asks(
  { reeve }: Driven,
  agentId: string,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const seen = new Set<string>();
  for await (const { approvals } of reeve.approvals.watchApprovals({}, { signal })) {
    for (const approval of approvals) if (approval.agentId === agentId) seen.add(approval.runId);
    if (seen.size === count) return;
  }
  throw new Error("the inbox ended");
}
