import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { jetstreamManager } from "@nats-io/jetstream";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import { openTable } from "@reeve/jetstream/table/nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WireRequest } from "../support/nats-tap/nats-tap.ts";
import type { RequestCounts, RequestGroup } from "../support/nats-tap/request-groups.ts";
import { countByGroup, unknownIn } from "../support/nats-tap/request-groups.ts";
import type { TappedSystem } from "./support/tapped-systems.ts";
import { startTappedDeployment, startTappedProcess } from "./support/tapped-systems.ts";

/** Runs that are not counted: the first ones open what later ones use. */
const warmRuns = 3;
/**
 * The maximum number of runs that are counted, until each group was within its budget in one of them. A pause of the machine may
 * cost a run more requests, such as reads of what came meanwhile. One that every run makes is in all of them.
 */
const maxRuns = 40;

/** What each run needs, whatever it does. */
const anyRun = {
  // At most one a second, however many runs there are.
  "position of a feed": 1,
  dispatch: 1,
  "acknowledgement of the dispatch": 1,
  "event of the audit trail": 3,
} as const satisfies RequestCounts;

/**
 * The maximum numbers of requests to NATS of a run, in the groups of `request-groups.ts`. Without a number, none is allowed.
 */
const budgets = {
  "text:20": {
    ...anyRun,
    "append to the log": 3,
    "write of the row": 2,
  },
  "tool-once": {
    ...anyRun,
    "append to the log": 5,
    "write of the row": 2,
    "append to the journal": 2,
  },
} as const satisfies Record<string, RequestCounts>;

/** What a call adds that takes the queue. Before it starts, its toolhost asks whether its run is open. */
const queuedCall = {
  "read of the log": 3,
  "call of a tool": 1,
  "acknowledgement of the call": 1,
} as const satisfies RequestCounts;

/** Where other processes write, too: each log and each journal is followed through the store. */
const otherWriters = {
  "text:20": {
    "read of the log": 2,
    subscription: 2,
    "end of a subscription": 2,
  },
  "tool-once": {
    subscription: 4,
    "end of a subscription": 4,
    ...queuedCall,
  },
} as const satisfies Record<string, RequestCounts>;

/** Runs the agent, and waits until the index shows the end of the run. */
async function run({ reeve, nats }: TappedSystem, agentId: string): Promise<void> {
  const { run: started } = await reeve.runs.startRun({ agentId, input: "go" });
  const statuses: (RunStatus | undefined)[] = [];
  for await (const { events } of reeve.runs.watchRun({ runId: started?.runId ?? "" })) {
    for (const { event } of events) if (event.case === "status") statuses.push(event.value.status);
  }
  expect(statuses.at(-1)).toBe(RunStatus.COMPLETED);
  const rows = await openTable(nats, RunSchema);
  for await (const change of rows.watch("", new AbortController().signal)) {
    if (change.kind !== "written" || change.row.record.runId !== started?.runId) continue;
    if (change.row.record.status === RunStatus.COMPLETED) return;
  }
}

/** Resolves when nothing more follows from the runs so far: all queues are empty, all feeds are read, and nobody follows a log. */
async function settled({ nats, tap }: TappedSystem): Promise<void> {
  const manager = await jetstreamManager(nats.connection);
  const pending = async () => {
    let waiting = tap.subscriptions().filter((subject) => subject.startsWith("live.")).length;
    for await (const consumer of manager.consumers.list("RUNS")) {
      waiting += consumer.num_pending + consumer.num_ack_pending;
    }
    for (const queue of ["DISPATCH", "TOOL_CALLS"]) {
      waiting += (await manager.streams.info(queue)).state.messages;
    }
    return waiting;
  };
  await expect.poll(pending, { interval: 5 }).toBe(0);
}

async function requestsOf(system: TappedSystem, agentId: string): Promise<readonly WireRequest[]> {
  await settled(system);
  system.tap.take();
  await run(system, agentId);
  await settled(system);
  return system.tap.take();
}

describe.each([
  { how: "in one process", start: startTappedProcess, isOneProcess: true },
  { how: "as four processes", start: startTappedDeployment, isOneProcess: false },
])("the requests to NATS of a run, $how:", ({ start, isOneProcess }) => {
  let system: TappedSystem;

  beforeAll(async () => {
    system = await start();
  });

  afterAll(async () => {
    await system[Symbol.asyncDispose]();
  });

  test.each(["text:20", "tool-once"] as const)("%s stays within its budget", async (model) => {
    const more = isOneProcess ? {} : otherWriters[model];
    const budget: RequestCounts = { ...budgets[model], ...more };
    const id = model.replace(":", "-");
    const allowedTools = fromJson(
      ListValueSchema,
      model === "tool-once" ? ["mcp__bench__page"] : [],
    );
    const spec = { id, name: id, model: `openai:${model}`, mcpServers: ["bench"], allowedTools };
    await system.reeve.agents.createAgent({ spec: create(AgentSpecSchema, spec) });
    for (let count = 0; count < warmRuns; count++) await run(system, id);
    const runs: RequestCounts[] = [];
    let unknown: readonly string[] = [];
    let excess: RequestCounts;
    do {
      const sent = await requestsOf(system, id);
      runs.push(countByGroup(sent));
      unknown = unknownIn(sent);
      excess = excessOf(runs, budget);
    } while (Object.keys(excess).length > 0 && runs.length < maxRuns);
    expect(excess, `requests without a group: ${unknown.join(", ")}`).toEqual({});
  });
});

/** Returns the groups of which every run made more requests than the budget allows, with the fewest that a run made. */
function excessOf(runs: readonly RequestCounts[], budget: RequestCounts): RequestCounts {
  const groups = new Set(runs.flatMap((counts) => Object.keys(counts) as RequestGroup[]));
  const fewest = [...groups].map(
    (group) => [group, Math.min(...runs.map((counts) => counts[group] ?? 0))] as const,
  );
  return Object.fromEntries(fewest.filter(([group, count]) => count > (budget[group] ?? 0)));
}
