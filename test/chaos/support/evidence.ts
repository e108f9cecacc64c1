import type { RunEvent, RunStatus } from "@reeve/contracts/run";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import type { Counter } from "./counter.ts";
import type { Cluster } from "./cluster.ts";
import { tenant } from "./cluster.ts";
import type { Seen } from "./client.ts";
import { filesOf } from "./files-of.ts";
import type { RunPlan } from "./run-plan.ts";
import { effectsOf } from "./run-plan.ts";

/** The traces that one effect left in the world, as the harness counts them. */
export interface Marks {
  /** How often it happened. For files that are overwritten: 1 if the file exists. */
  readonly times: number;
  /** How often the program with the effect reached its end; outside the sandbox the same as `times`. */
  readonly ends: number;
}

/** All that is known of a run, from every source. */
export interface RunEvidence {
  readonly plan: RunPlan;
  readonly seen: Seen;
  /** The diagnosis of a run whose client gave up. */
  readonly stuck: string | undefined;
  /** The stored log. */
  readonly stored: readonly RunEvent[];
  /** The journals of its calls, by call id. */
  readonly journals: ReadonlyMap<string, readonly ToolCallFact[]>;
  /** The traces in the world, by the effect's tag. */
  readonly marks: ReadonlyMap<string, Marks>;
  /** Calls whose changes to files are reported as lost. */
  readonly lost: ReadonlySet<string>;
  /** The run's status at each gateway. */
  readonly shown: readonly RunStatus[];
}

export interface Sources {
  readonly cluster: Cluster;
  readonly counter: Counter;
  readonly log: RunLog;
  readonly journal: CallJournal;
  readonly statusAt: (gateway: number, runId: string) => Promise<RunStatus>;
}

const never = new AbortController().signal;
const maxElapsedMs = 30_000;

export async function gather(
  { cluster, counter, log, journal, statusAt }: Sources,
  plan: RunPlan,
  seen: Seen,
  stuck: string | undefined,
): Promise<RunEvidence> {
  const { runId } = seen;
  const key = { tenant, run: runId };
  const { events: stored } = await retryUnavailable(
    () => log.read(key, emptyTail, never),
    { maxElapsedMs },
    never,
  );
  const journals = new Map<string, readonly ToolCallFact[]>();
  for (const { event } of stored) {
    if (event.case !== "toolCall") continue;
    const { callId } = event.value;
    const read = () => journal.read({ ...key, call: callId }, emptyTail, never);
    journals.set(callId, (await retryUnavailable(read, { maxElapsedMs }, never)).events);
  }
  const marks = new Map<string, Marks>();
  await using files = await filesOf(cluster.nats, cluster.workspaces, { tenant, runId });
  for (const { tag, kind } of effectsOf(plan)) {
    const counted = counter.counts.get(`${plan.index}/${tag}`) ?? 0;
    const isInFiles = kind === "code" || kind === "write";
    marks.set(tag, isInFiles ? marksIn(await files.text(tag)) : { times: counted, ends: counted });
  }
  const reported = stored.flatMap(({ event }) =>
    event.case === "toolResult" ? (event.value.result?.metadata?.lostChanges ?? []) : [],
  );
  const lost = new Set([...reported.map(({ callId }) => callId), ...files.unreported]);
  const gateways = cluster.of("gateway");
  const shown = await Promise.all(gateways.map((_, index) => statusAt(index, runId)));
  return { plan, seen, stuck, stored, journals, marks, lost, shown };
}

function marksIn(content: string | undefined): Marks {
  if (content === undefined) return { times: 0, ends: 0 };
  const lines = content.split("\n");
  const begun = lines.filter((line) => line === "begun").length;
  return { times: Math.max(begun, 1), ends: lines.filter((line) => line === "ended").length };
}
