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

/** What the world shows of one effect, as the harness itself counts it. */
export interface Marks {
  /** How often it happened. Of what is written again and again: whether it is there. */
  readonly times: number;
  /** How often whatever had the effect came to its own end; of those outside of the sandbox as `times`. */
  readonly ends: number;
}

/** Everything that is known of a run, from all sides. */
export interface RunEvidence {
  readonly plan: RunPlan;
  readonly seen: Seen;
  /** What is known of a run whose client gave up waiting for its end. */
  readonly stuck: string | undefined;
  /** The log as it is stored. */
  readonly stored: readonly RunEvent[];
  /** The journals of its calls, by id. */
  readonly journals: ReadonlyMap<string, readonly ToolCallFact[]>;
  /** What the world shows, by the tag of the effect. */
  readonly marks: ReadonlyMap<string, Marks>;
  /** Calls of which is said that their changes to files are gone. */
  readonly lost: ReadonlySet<string>;
  /** Where the run stands, as each gateway says. */
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
  const told = stored.flatMap(({ event }) =>
    event.case === "toolResult" ? (event.value.result?.metadata?.lostChanges ?? []) : [],
  );
  const lost = new Set([...told.map(({ callId }) => callId), ...files.untold]);
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
