import { ConnectError, Code } from "@connectrpc/connect";
import type { RunCreated } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import { runs } from "../../../api/transport.ts";

/**
 * Starts a run with what a run that has ended was started with: agent, input, earlier messages, files, and labels. The agent is that
 * of now. The new run is no turn of the thread. Returns its id.
 */
export async function runAgain(
  runId: string,
  requestId: string,
  signal: AbortSignal,
): Promise<string> {
  const created = await createdOf(runId, signal);
  const { agentId, input, parts, messages, files, labels, collections } = created;
  const { memoryEnabled, chatContext } = created;
  const { run } = await runs.startRun(
    {
      agentId,
      input,
      parts,
      messages,
      files,
      labels,
      memoryEnabled,
      collections,
      requestId,
      ...(chatContext && { chatContext }),
    },
    { signal },
  );
  return run?.runId ?? "";
}

/** Returns what a run was started with, which is its first event. */
async function createdOf(runId: string, signal: AbortSignal): Promise<RunCreated> {
  const reading = new AbortController();
  const selection = { case: "families" as const, value: { families: [EventFamily.RECORD] } };
  const watched = runs.watchRun(
    { runId, selection },
    { signal: AbortSignal.any([signal, reading.signal]) },
  );
  try {
    for await (const { events } of watched) {
      const [first] = events;
      if (first?.event.case === "runCreated") return first.event.value;
    }
  } finally {
    reading.abort();
  }
  throw new ConnectError(`run ${runId} has no readable first event`, Code.DataLoss);
}
