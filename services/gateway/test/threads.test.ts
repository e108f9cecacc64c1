import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Run } from "@reeve/contracts/run";
import { OnBusy, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { Role, TurnOutcome } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openCallJournal, openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { openDispatchQueue } from "@reeve/jetstream/queue/dispatch";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import { endTurn } from "@reeve/run/thread/end-turn";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Clients } from "./support/clients.ts";
import { clientsOf, refusalOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

const signal = new AbortController().signal;
let bench: GatewayBench;
/** Two gateways with the same NATS server. */
let gateways: readonly Clients[];

beforeAll(async () => {
  bench = await openGatewayBench();
  gateways = [bench.url, await bench.startAnother()].map((url) =>
    clientsOf(url, `Bearer ${tokens.acme}`, "gRPC"),
  );
  const spec = create(AgentSpecSchema, { id: "known", name: "known", model: "known" });
  await gateways[0]?.agents.createAgent({ spec });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

function gateway(index = 0): Clients {
  const one = gateways[index % gateways.length];
  if (one === undefined) throw new Error("a gateway is missing");
  return one;
}

async function start(threadId: string, index: number, onBusy: OnBusy): Promise<Run | undefined> {
  const request = { agentId: "known", input: `ask ${index}`, threadId, onBusy };
  return (await gateway(index).runs.startRun(request)).run;
}

/** Starts 20 runs concurrently, over both gateways. */
function startMany(threadId: string, onBusy: OnBusy) {
  const starting = Array.from({ length: 20 }, (_, index) => start(threadId, index, onBusy));
  return Promise.allSettled(starting);
}

/** Runs a worker that completes each run it receives, until `isEnough`. Returns the runs in order. */
async function workUntil(isEnough: (done: readonly string[]) => boolean): Promise<string[]> {
  const { nats } = bench;
  const dispatch = await openDispatchQueue(nats, { ackWaitMs: 5_000, isConsumer: true });
  const log = await openRunLog(nats);
  const journal = await openCallJournal(nats);
  const ports = { dispatch, log, journal, threads: await openThreadLog(nats) };
  const done: string[] = [];
  for await (const { message, acknowledge } of dispatch.take(1, signal)) {
    const key = { tenant: message.tenant, run: message.runId };
    const { events, tail } = await log.read(key, emptyTail, signal);
    const head = foldHead(emptyHead, events);
    if (!isTerminal(head.status)) {
      const facts = [
        { case: "runClaimed", value: { worker: "w", epoch: 1 } },
        { case: "modelCallStarted", value: {} },
        { case: "text", value: { text: `answer to ${head.created?.input}` } },
        { case: "modelTurn", value: {} },
        { case: "costSummary", value: { llmCalls: 1, costUsd: 0.5 } },
        { case: "status", value: { status: RunStatus.COMPLETED } },
      ] as const;
      const written = facts.map((event, index) =>
        create(RunEventSchema, { runId: key.run, sequence: tail.sequence + 1 + index, event }),
      );
      await log.append(key, tail, written, signal);
      done.push(key.run);
    }
    const thread = { tenant: key.tenant, thread: head.created?.threadId ?? "" };
    await endTurn(ports, thread, key.run, signal);
    acknowledge();
    if (isEnough(done)) break;
  }
  return done;
}

/** Repeats a request until its result is as expected: indexes follow the logs with a short delay. */
async function eventually<Answer>(
  ask: () => Promise<Answer>,
  isAsMeant: (answer: Answer) => boolean,
): Promise<Answer> {
  for (;;) {
    signal.throwIfAborted();
    const answer = await ask();
    if (isAsMeant(answer)) return answer;
    await new Promise(setImmediate);
  }
}

// Requirement: CHAT-7
test("of many concurrent starts over two gateways, one gets the turn and the others leave nothing behind", async () => {
  const outcomes = await startMany("reject", OnBusy.REJECT);
  const accepted = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(accepted).toHaveLength(1);
  const [run] = accepted;
  const { thread } = await gateway(1).threads.getThread({ threadId: "reject" });
  expect(thread).toMatchObject({ activeRunId: run?.runId, queuedRunIds: [], lastSequence: 2 });
  await workUntil((done) => done.includes(run?.runId ?? ""));
});

test("all runs that queue over two gateways get their turn, in the order of acceptance", async () => {
  const outcomes = await startMany("queue", OnBusy.QUEUE);
  expect(outcomes.every(({ status }) => status === "fulfilled")).toBe(true);
  const { thread } = await gateway().threads.getThread({ threadId: "queue" });
  const accepted = [thread?.activeRunId ?? "", ...(thread?.queuedRunIds ?? [])];
  expect(accepted).toHaveLength(20);
  const order = await workUntil((done) => accepted.every((runId) => done.includes(runId)));
  expect(order).toEqual(accepted);
  const { messages } = await gateway(1).threads.listThreadMessages({ threadId: "queue" });
  expect(messages).toHaveLength(40);
  expect(messages[1]).toMatchObject({
    runId: accepted[0],
    role: Role.ASSISTANT,
    text: `answer to ${messages[0]?.text}`,
    outcome: TurnOutcome.COMPLETED,
    cost: { llmCalls: 1, costUsd: 0.5 },
  });
});

// Requirement: CHAT-7
test("of many concurrent interrupts over two gateways, exactly one run remains", async () => {
  await start("hurry", 99, OnBusy.REJECT);
  const outcomes = await startMany("hurry", OnBusy.INTERRUPT);
  const runs = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(runs).toHaveLength(20);
  const { thread } = await gateway().threads.getThread({ threadId: "hurry" });
  expect(thread?.queuedRunIds).toEqual([]);
  const heads = await Promise.all(
    runs.map((run) => gateway(1).runs.getRun({ runId: run?.runId ?? "" })),
  );
  const left = heads.filter(({ run }) => run?.status !== RunStatus.CANCELLED);
  expect(left.map(({ run }) => run?.runId)).toEqual([thread?.activeRunId]);
  await workUntil((done) => done.includes(thread?.activeRunId ?? ""));
});

test("the indexes list the thread and its runs", async () => {
  const run = await start("listed", 0, OnBusy.REJECT);
  const { threads } = await eventually(
    () => gateway(1).threads.listThreads({}),
    (page) => page.threads[0]?.threadId === "listed",
  );
  expect(threads[0]).toMatchObject({ title: "ask 0", activeRunId: run?.runId });
  const { runs } = await eventually(
    () => gateway(1).runs.listRuns({ threadId: "listed" }),
    (page) => page.runs.length > 0,
  );
  expect(runs).toMatchObject([{ runId: run?.runId, threadId: "listed" }]);
  await gateway().runs.cancelRun({ runId: run?.runId ?? "" });
  await gateway().threads.deleteThread({ threadId: "listed" });
  await eventually(
    () => gateway().threads.listThreads({}),
    (page) => page.threads.every(({ threadId }) => threadId !== "listed"),
  );
  const again = start("listed", 1, OnBusy.REJECT);
  expect(await refusalOf(again)).toMatchObject({ reason: "THREAD_NOT_FOUND" });
});

test("more than a hundred queued runs are refused", async () => {
  await start("full", 0, OnBusy.REJECT);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 110 }, (_, index) => start("full", index, OnBusy.QUEUE)),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
  expect(await refusalOf(start("full", 0, OnBusy.QUEUE))).toMatchObject({
    kind: "exhausted",
    reason: "THREAD_QUEUE_FULL",
    metadata: { thread_id: "full" },
  });
});
