import { create } from "@bufbuild/protobuf";
import { jetstreamManager } from "@nats-io/jetstream";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily, RunStatus, StepState } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { askedExistence } from "@reeve/run/existence/asked-existence";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clients } from "./support/clients.ts";
import { clientsOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

let bench: GatewayBench;
let gateways: readonly [Clients, Clients];

beforeAll(async () => {
  bench = await openGatewayBench();
  const urls = [bench.url, await bench.startAnother()] as const;
  const [first, second] = urls.map((url) => clientsOf(url, `Bearer ${tokens.acme}`, "gRPC"));
  if (first === undefined || second === undefined) throw new Error("a gateway is missing");
  gateways = [first, second];
  const spec = create(AgentSpecSchema, { id: "known", name: "known", model: "known" });
  await first.agents.createAgent({ spec });
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Returns the gateways in alternation. */
const gateway = (turn: number): Clients => gateways[turn % 2 === 0 ? 0 : 1];

async function started(more: { readonly requestId?: string; readonly input?: string } = {}) {
  const { run } = await gateway(0).runs.startRun({ agentId: "known", input: "hello", ...more });
  return run?.runId ?? "";
}

/** Collects the messages of a watch, from a gateway and after a sequence. */
async function watched(runId: string, turn = 0, afterSequence = 0): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  const detailed = { case: "detailed", value: true } as const;
  const request = { runId, afterSequence, selection: detailed };
  for await (const message of gateway(turn).runs.watchRun(request)) events.push(...message.events);
  return events;
}

const kindOf = ({ event }: RunEvent) => event.case;

describe("two gateways", () => {
  test("start one run for one request id", async () => {
    const requestId = "a.b *> \0 🙂";
    const runs = await Promise.all(
      Array.from({ length: 16 }, (_, turn) =>
        gateway(turn).runs.startRun({ agentId: "known", input: "hello", requestId }),
      ),
    );
    expect(new Set(runs.map(({ run }) => run?.runId)).size).toBe(1);
  });

  test("start runs with an agent as the other one has saved it, and none after the other one has deleted it", async () => {
    const spec = create(AgentSpecSchema, { id: "shared", name: "shared", model: "known" });
    await gateway(0).agents.createAgent({ spec });
    for (let turn = 0; turn < 10; turn++) {
      const { agent } = await gateway(turn).agents.updateAgent({ spec });
      const start = { agentId: "shared", input: "hello" };
      const { run } = await gateway(turn + 1).runs.startRun(start);
      expect(run?.agentRevision).toBe(agent?.revision);
    }
    await gateway(0).agents.deleteAgent({ agentId: "shared" });
    const refused = await gateway(1)
      .runs.startRun({ agentId: "shared", input: "hello" })
      .then(() => undefined, failureFrom);
    expect(refused).toMatchObject({ kind: "not_found" });
  });

  test("say to other services which runs exist", async () => {
    const runId = await started();
    const exists = askedExistence(bench.nats);
    const signal = new AbortController().signal;
    expect(await exists({ tenant: "acme", run: runId }, signal)).toBe(true);
    expect(await exists({ tenant: "globex", run: runId }, signal)).toBe(false);
  });

  test("cancel a run once during concurrent messages, and nothing follows its end", async () => {
    const runId = await started();
    const cancelling = Array.from({ length: 8 }, (_, turn) =>
      gateway(turn).runs.cancelRun({ runId, reason: "enough" }),
    );
    const speaking = Array.from({ length: 8 }, (_, turn) =>
      gateway(turn)
        .runs.sendMessage({ runId, text: `m${turn}`, messageId: `m${turn}` })
        .catch(failureFrom),
    );
    const cancelled = await Promise.all(cancelling);
    const spoken = await Promise.all(speaking);
    expect(cancelled.map(({ run }) => run?.status)).toEqual(
      cancelled.map(() => RunStatus.CANCELLED),
    );
    const families = [EventFamily.RECORD, EventFamily.STATUS];
    const events: RunEvent[] = [];
    for await (const message of gateway(1).runs.watchRun({
      runId,
      selection: { case: "families", value: { families } },
    })) {
      events.push(...message.events);
    }
    expect(events.filter((event) => kindOf(event) === "status")).toHaveLength(1);
    expect(events.at(-1)?.event.case).toBe("status");
    const taken = spoken.filter((answer) => "sequence" in answer).length;
    expect(events.filter((event) => kindOf(event) === "messageSubmitted")).toHaveLength(taken);
  });

  test("list the runs that the logs have", async () => {
    const runIds = await Promise.all(Array.from({ length: 20 }, () => started()));
    await Promise.all(
      runIds.map(async (runId, turn) => {
        await bench.append(runId, { case: "runClaimed", value: { worker: "w" } });
        await bench.append(runId, { case: "status", value: { status: RunStatus.STARTING } });
        await bench.append(runId, { case: "text", value: { text: "x" } });
        if (turn % 2 === 0) await gateway(turn).runs.cancelRun({ runId });
      }),
    );
    await expect
      .poll(async () => {
        const { runs } = await gateway(1).runs.listRuns({ pageSize: 1_000 });
        return runIds.map((runId) => runs.find((run) => run.runId === runId)?.status);
      })
      .toEqual(
        runIds.map((_, turn) => (turn % 2 === 0 ? RunStatus.CANCELLED : RunStatus.STARTING)),
      );
  });
});

// Requirement: EVT-4
test("a client that resumes fifty times, anywhere and at either gateway, misses and repeats nothing", async () => {
  const runId = await started();
  const length = 120;
  const writing = (async () => {
    for (let part = 0; part < length; part++) {
      await bench.append(runId, { case: "text", value: { text: `${part}` } });
    }
    await bench.append(runId, { case: "status", value: { status: RunStatus.COMPLETED } });
  })();
  const seen: number[] = [];
  let after = 0;
  let isOver = false;
  for (let turn = 0; !isOver; turn++) {
    // Leaves after some events, sometimes within a message; the last watches stay to the end.
    const most = turn < 50 ? (turn * 7) % 5 : Infinity;
    const request = { runId, afterSequence: after };
    let count = 0;
    isOver = true;
    for await (const { events } of gateway(turn).runs.watchRun(request)) {
      const taken = events.slice(0, Math.max(0, most - count));
      seen.push(...taken.map(({ sequence }) => sequence));
      after = taken.at(-1)?.sequence ?? after;
      count += taken.length;
      if (count >= most) {
        isOver = false;
        break;
      }
    }
  }
  await writing;
  expect(seen).toEqual(Array.from({ length: length + 1 }, (_, index) => index + 2));
  const last = seen.at(-1) ?? 0;
  expect(await watched(runId, 1, last)).toEqual([]);
  for (const from of [1, 60, last - 1]) {
    const rest = (await watched(runId, 1, from)).map(({ sequence }) => sequence);
    expect(rest).toEqual(seen.filter((sequence) => sequence > from));
  }
});

test("a stream continues without a gap after the store is killed", async () => {
  const runId = await started();
  const watching = watched(runId, 0);
  await bench.append(runId, { case: "step", value: { state: StepState.STARTED } });
  await bench.restartNats();
  const other = watched(runId, 1, 1);
  await bench.append(runId, { case: "text", value: { text: "after" } });
  await bench.append(runId, { case: "status", value: { status: RunStatus.COMPLETED } });
  const kinds = ["step", "text", "status"];
  expect((await watching).map(kindOf)).toEqual(kinds);
  expect((await other).map(kindOf)).toEqual(kinds);
});

test("requests during an outage of the store are answered after it", async () => {
  const runId = await started();
  const asked: Promise<unknown>[] = [];
  await bench.restartNats(async () => {
    asked.push(
      gateway(0).agents.getAgent({ agentId: "known" }),
      gateway(1).agents.listAgents({}),
      gateway(0).runs.getRun({ runId }),
      gateway(1).runs.listRuns({}),
      gateway(0).artifacts.listArtifacts({}),
    );
    await gateway(0).agents.validateAgent({});
  });
  const answers = await Promise.allSettled(asked);
  expect(answers.map(({ status }) => status)).toEqual(asked.map(() => "fulfilled"));
});

describe("the maximum size of a", () => {
  test("request is stored completely, and returned", async () => {
    const labels = Object.fromEntries(
      Array.from({ length: 32 }, (_, index) => [`${index}`.padStart(63, "k"), "🙂".repeat(256)]),
    );
    const text = "\0🙂\u202e".repeat(20_000);
    const { run } = await gateway(0).runs.startRun({
      agentId: "known",
      input: "x".repeat(100_000),
      messages: [{ role: Role.USER, text: text.slice(0, 50_000) }],
      labels,
      requestId: "r".repeat(128),
    });
    const { run: read } = await gateway(1).runs.getRun({ runId: run?.runId ?? "" });
    expect(read?.labels).toEqual(labels);
    await expect
      .poll(async () => {
        const { runs } = await gateway(1).runs.listRuns({});
        return runs.find(({ runId }) => runId === run?.runId)?.labels;
      })
      .toEqual(labels);
  });

  test("request is exceeded by one more label, byte, or message", async () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`${index}`, ""]));
    const long = "x".repeat(262_145);
    const runId = await started();
    for (const [call, field] of [
      [gateway(0).runs.startRun({ agentId: "known", input: "x", labels: many }), "labels"],
      [gateway(0).runs.startRun({ agentId: "known", input: long }), "input"],
      [gateway(0).runs.sendMessage({ runId, text: "x".repeat(1_048_576) }), "text"],
      [gateway(0).runs.cancelRun({ runId, reason: long }), "reason"],
      [gateway(0).runs.startRun({ agentId: "known", input: "x", requestId: long }), "request_id"],
    ] as const) {
      const refused = await call.then(() => undefined, failureFrom);
      expect(refused).toMatchObject({ kind: "invalid", violations: [{ field }] });
    }
  });
});

test("an interrupted upload leaves neither an artifact nor content", async () => {
  const streams = (await jetstreamManager(bench.nats.connection)).streams;
  const stored = async () => (await streams.info("OBJ_artifacts-bytes")).state.messages;
  const before = await stored();
  const leave = new AbortController();
  async function* half() {
    yield { part: { case: "header", value: { name: "a" } } } as const;
    yield { part: { case: "chunk", value: new Uint8Array(500) } } as const;
    leave.abort(new Error("the client disconnected"));
    await new Promise(() => undefined);
  }
  const cut = gateway(0).artifacts.uploadArtifact(half(), { signal: leave.signal });
  await expect(cut).rejects.toThrow("the client disconnected");
  await expect.poll(stored).toBe(before);
  expect((await gateway(1).artifacts.listArtifacts({})).artifacts).toEqual([]);
});
