import type { Client } from "@reeve/client";
import { EventFamily, RunStatus } from "@reeve/client";
import type { EvalCase, SelectedRuns } from "./eval-file.ts";

/** Returns the inputs of completed runs as cases, each with the id of its run. Inputs that repeat are one case. */
export async function casesOfRuns(
  reeve: Client,
  { agent, labels = {}, started_by, text, limit }: SelectedRuns,
  signal: AbortSignal,
): Promise<readonly EvalCase[]> {
  const filter = {
    labels,
    ...(started_by !== undefined && { startedBy: started_by }),
    ...(text !== undefined && { text }),
  };
  const options = { agentId: agent, statuses: [RunStatus.COMPLETED], filter, limit, signal };
  const cases = new Map<string, EvalCase>();
  for await (const { runId } of reeve.listRuns(options)) {
    const input = await inputOf(reeve, runId, signal);
    const id = runId.replace("_", "-");
    if (input !== undefined && !cases.has(input)) cases.set(input, { id, input, graders: [] });
  }
  return [...cases.values()];
}

/** Returns the input of a run. Undefined: it has none, or was deleted. */
async function inputOf(
  reeve: Client,
  runId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for await (const { event } of reeve.watch(runId, { families: [EventFamily.RECORD], signal })) {
    if (event.case === "runCreated") return event.value.input;
  }
  return undefined;
}
