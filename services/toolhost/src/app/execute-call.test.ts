import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import {
  AnswerAction,
  ToolCallFactSchema,
  ToolCallRequestSchema,
  ToolDescriptorSchema,
  ToolStatus,
} from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/log/call-journal";
import { emptyTail } from "@reeve/log/log";
import { memoryCallJournal } from "@reeve/log/memory-log";
import { MemoryWorkQueue } from "@reeve/log/memory-queue";
import type { Delivery } from "@reeve/log/work-queue";
import { createLogger } from "@reeve/platform/logger";
import { Failure } from "@reeve/platform/failure";
import { ErrorReason } from "@reeve/contracts/error";
import { MemoryArtifactStore } from "@reeve/store/memory-artifact-store";
import { describe, expect, test } from "vitest";
import type { Tool } from "../ports/tool.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { executeCall } from "./execute-call.ts";
import { startedFact } from "./journal-facts.ts";
import { workCalls } from "./work-calls.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1", call: "run_1-2-0" };

function toolOf(call: Tool["call"]): Tool {
  const descriptor = create(ToolDescriptorSchema, {
    name: "tell",
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
  });
  return { descriptor, call };
}

const answers: Tool = toolOf(async ({ args }) => ({
  content: `told ${JSON.stringify(args["n"] ?? null)}`,
  isError: false,
}));

/** Ends only when it is told to; `begun` resolves when it has begun. */
function patientTool() {
  const begun = Promise.withResolvers<void>();
  const tool = toolOf(async (_, signal) => {
    const ended = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => ended.reject(signal.reason as Error));
    begun.resolve();
    return await ended.promise;
  });
  return { tool, begun: begun.promise };
}

function portsWith(tool: Tool, journal: CallJournal = memoryCallJournal()): ToolhostPorts {
  return {
    journal,
    requests: { holds: async () => true },
    toolbox: { list: () => [tool], find: (name) => (name === "tell" ? tool : undefined) },
    workspaces: { open: () => Promise.reject(new Error("no workspace here")) },
    artifacts: new MemoryArtifactStore({ maxBytes: 1_000_000 }),
    keepMs: 10_000,
    host: "toolhost-a",
    heartbeatMs: 50,
    log: createLogger("test", "silent"),
  };
}

function request(
  options: { idempotent?: boolean; name?: string; args?: { n?: number | string } } = {},
): ToolCallRequest {
  const { idempotent = false, name = "tell", args = {} } = options;
  return create(ToolCallRequestSchema, {
    tenant: key.tenant,
    runId: key.run,
    call: { callId: key.call, name, arguments: args },
    idempotent,
  });
}

interface Taken extends Delivery<ToolCallRequest> {
  /** How it was settled. */
  readonly settled: readonly string[];
}

function deliveryOf(message: ToolCallRequest, sequence = 7): Taken {
  const settled: string[] = [];
  return {
    message,
    sequence,
    attempt: 1,
    settled,
    extend: () => undefined,
    acknowledge: () => void settled.push("acknowledged"),
    giveBack: () => void settled.push("given back"),
    forget: () => void settled.push("forgotten"),
  };
}

async function factsIn({ journal }: ToolhostPorts): Promise<readonly ToolCallFact[]> {
  return (await journal.read(key, emptyTail, never)).events;
}

async function append({ journal }: ToolhostPorts, ...facts: readonly ToolCallFact[]) {
  const { tail } = await journal.read(key, emptyTail, never);
  expect(await journal.append(key, tail, facts, never)).toMatchObject({ kind: "appended" });
}

function cancelled(): ToolCallFact {
  return create(ToolCallFactSchema, { fact: { case: "cancelled", value: { reason: "enough" } } });
}

function kinds(facts: readonly ToolCallFact[]) {
  return facts.map(({ fact }) => fact.case);
}

function resultIn(facts: readonly ToolCallFact[]) {
  const fact = facts.at(-1)?.fact;
  if (fact?.case !== "result") throw new Error("the last fact is no result");
  return fact.value;
}

function answered(questionId: string, content: JsonObject): ToolCallFact {
  const value = { questionId, action: AnswerAction.ACCEPT, content };
  return create(ToolCallFactSchema, { fact: { case: "answer", value } });
}

/** The id of the question that a call asks. */
async function questionIn({ journal }: ToolhostPorts): Promise<string> {
  for await (const { events } of journal.follow(key, 0, never)) {
    for (const { fact } of events) if (fact.case === "question") return fact.value.questionId;
  }
  throw new Error("nothing is asked");
}

describe("a call", () => {
  test("is started, executed, and ends with its result", async () => {
    const ports = portsWith(answers);
    const delivery = deliveryOf(request({ args: { n: 4 } }));
    await executeCall(delivery, ports, never);
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual(["started", "result"]);
    expect(facts[0]?.fact.value).toMatchObject({ host: "toolhost-a", requestSequence: 7n });
    expect(resultIn(facts)).toMatchObject({ callId: key.call, content: "told 4", isError: false });
    expect(resultIn(facts).metadata?.status).toBe(ToolStatus.SUCCESS);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("journals progress in order, before the result", async () => {
    const ports = portsWith(
      toolOf(async ({ report }) => {
        for (let n = 1; n <= 20; n++) report({ progress: n, message: `step ${n}` });
        return { content: "done", isError: false };
      }),
    );
    await executeCall(deliveryOf(request()), ports, never);
    const facts = await factsIn(ports);
    const steps = facts.flatMap(({ fact }) =>
      fact.case === "progress" ? [fact.value.progress] : [],
    );
    expect(steps).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(kinds(facts).at(-1)).toBe("result");
  });

  test("keeps a bounded part of a flood of progress, the latest included", async () => {
    const ports = portsWith(
      toolOf(async ({ report }) => {
        for (let n = 1; n <= 50_000; n++) report({ progress: n, message: "" });
        return { content: "done", isError: false };
      }),
    );
    await executeCall(deliveryOf(request()), ports, never);
    const facts = await factsIn(ports);
    expect(facts.length).toBeLessThan(200);
    expect(facts.at(-2)?.fact.value).toMatchObject({ progress: 50_000 });
  });

  test("keeps a bounded part of what its progress says", async () => {
    const ports = portsWith(
      toolOf(async ({ report }) => {
        for (let n = 1; n <= 64; n++) report({ progress: n, message: "é".repeat(1_000_000) });
        return { content: "done", isError: false };
      }),
    );
    await executeCall(deliveryOf(request()), ports, never);
    const messages = (await factsIn(ports)).flatMap(({ fact }) =>
      fact.case === "progress" ? [Buffer.byteLength(fact.value.message)] : [],
    );
    expect(Math.max(...messages)).toBeLessThanOrEqual(1_000);
  });

  test("is not executed when it was cancelled before", async () => {
    const ports = portsWith(toolOf(() => Promise.reject(new Error("executed"))));
    await append(ports, cancelled());
    const delivery = deliveryOf(request());
    await executeCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["cancelled"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("is ended when it is cancelled while it runs, and says nothing more", async () => {
    const { tool, begun } = patientTool();
    const ports = portsWith(tool);
    const delivery = deliveryOf(request());
    const executing = executeCall(delivery, ports, never);
    await begun;
    await append(ports, cancelled());
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "cancelled"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("that asks a person goes on with the answer, and is still its own", async () => {
    const asks = toolOf(async ({ ask, report }) => {
      report({ progress: 1, message: "before" });
      const given = await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
      report({ progress: 2, message: "after" });
      return {
        content: given.kind === "accepted" ? JSON.stringify(given.content) : given.kind,
        isError: false,
      };
    });
    const ports = portsWith(asks);
    const executing = executeCall(deliveryOf(request()), ports, never);
    const questionId = await questionIn(ports);
    await append(ports, answered(questionId, { dish: "soup" }));
    await executing;
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual([
      "started",
      "progress",
      "question",
      "answer",
      "progress",
      "result",
    ]);
    expect(facts.at(-1)?.fact.value).toMatchObject({ content: '{"dish":"soup"}' });
  });

  test("that is cancelled while it asks is ended", async () => {
    const asks = toolOf(async ({ ask }) => {
      await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
      return { content: "never", isError: false };
    });
    const ports = portsWith(asks);
    const executing = executeCall(deliveryOf(request()), ports, never);
    await questionIn(ports);
    await append(ports, cancelled());
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "question", "cancelled"]);
  });

  test("that asks without end is told to stop", async () => {
    const asks = toolOf(async ({ ask }) => {
      for (;;) await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
    });
    const ports = portsWith(asks);
    const executing = executeCall(deliveryOf(request()), ports, never);
    for await (const { events } of ports.journal.follow(key, 0, never)) {
      for (const { fact } of events) {
        if (fact.case === "question") await append(ports, answered(fact.value.questionId, {}));
      }
      if (events.some(({ fact }) => fact.case === "result")) break;
    }
    await executing;
    const facts = await factsIn(ports);
    expect(kinds(facts).filter((kind) => kind === "question")).toHaveLength(10);
    expect(facts.at(-1)?.fact.value).toMatchObject({
      isError: true,
      content: expect.stringContaining("more than 10 questions"),
    });
  });

  test("that was cancelled just before its result has no result", async () => {
    const ports: ToolhostPorts = portsWith(
      toolOf(async () => {
        await append(ports, cancelled());
        return { content: "too late", isError: false };
      }),
    );
    const delivery = deliveryOf(request());
    await executeCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started", "cancelled"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });
});

describe("a call that is delivered again", () => {
  test("has its result already", async () => {
    const ports = portsWith(answers);
    await executeCall(deliveryOf(request()), ports, never);
    const delivery = deliveryOf(request());
    await executeCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started", "result"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("after its host fell silent has an unknown outcome", async () => {
    const ports = portsWith(answers);
    await append(ports, startedFact("toolhost-gone", 7));
    await executeCall(deliveryOf(request()), ports, never);
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual(["started", "result"]);
    expect(resultIn(facts)).toMatchObject({ isError: true });
    expect(resultIn(facts).content).toContain("unknown");
  });

  test("after its host fell silent is made again when that does no harm", async () => {
    const ports = portsWith(answers);
    await append(ports, startedFact("toolhost-gone", 7));
    await executeCall(deliveryOf(request({ idempotent: true })), ports, never);
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual(["started", "started", "result"]);
    expect(resultIn(facts)).toMatchObject({ isError: false });
  });

  test("and took down every host that tried is not made for ever", async () => {
    const ports = portsWith(answers);
    const starts = ["a", "b", "c"].map((host) => startedFact(host, 7));
    await append(ports, ...starts);
    await executeCall(deliveryOf(request({ idempotent: true })), ports, never);
    expect(resultIn(await factsIn(ports))).toMatchObject({ isError: true });
  });

  test("by another message means nothing", async () => {
    const ports = portsWith(answers);
    await append(ports, startedFact("toolhost-alive", 7));
    const delivery = deliveryOf(request({ idempotent: true }), 8);
    await executeCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("to another host is left to that host", async () => {
    const { tool, begun } = patientTool();
    const ports = portsWith(tool);
    const delivery = deliveryOf(request());
    const executing = executeCall(delivery, ports, never);
    await begun;
    await append(ports, startedFact("toolhost-b", 7));
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "started"]);
    expect(delivery.settled).toEqual(["forgotten"]);
  });
});

describe("what the model could do better", () => {
  test.each([
    ["an unknown tool", request({ name: "nothing" }), /no tool nothing/],
    ["an argument of the wrong type", request({ args: { n: "x" } }), /n must be integer/],
  ])("is told: %s", async (_, message, problem) => {
    const ports = portsWith(answers);
    await executeCall(deliveryOf(message), ports, never);
    const result = resultIn(await factsIn(ports));
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(problem);
  });

  test("is told: arguments that are no JSON", async () => {
    const ports = portsWith(answers);
    const message = request();
    message.call = { ...message.call, rawArguments: "{n:" } as NonNullable<typeof message.call>;
    delete message.call.arguments;
    await executeCall(deliveryOf(message), ports, never);
    expect(resultIn(await factsIn(ports)).content).toMatch(/no JSON object: \{n:/);
  });

  test("is told: what a tool refuses, but not what breaks inside", async () => {
    const reason = ErrorReason.INVALID_REQUEST;
    const refusing = toolOf(() => Promise.reject(new Failure("invalid", reason, "not like this")));
    const breaking = toolOf(() => Promise.reject(new Error("a secret detail")));
    for (const [tool, content] of [
      [refusing, "not like this"],
      [breaking, "the tool tell broke inside the toolhost"],
    ] as const) {
      const ports = portsWith(tool);
      await executeCall(deliveryOf(request()), ports, never);
      expect(resultIn(await factsIn(ports))).toMatchObject({ content, isError: true });
    }
  });

  test("is shown in part where it is too long", async () => {
    const ports = portsWith(toolOf(async () => ({ content: "é".repeat(100_000), isError: false })));
    await executeCall(deliveryOf(request()), ports, never);
    const { content } = resultIn(await factsIn(ports));
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(50_000);
    expect(content).toMatch(/^é+\n\[200000 bytes in all; call retrieve_artifact .*\]\né+$/);
  });
});

describe("a toolhost that goes away", () => {
  test("ends its calls and gives them back", async () => {
    const { tool, begun } = patientTool();
    const ports = portsWith(tool);
    const stop = new AbortController();
    const delivery = deliveryOf(request());
    const executing = executeCall(delivery, ports, stop.signal);
    await begun;
    stop.abort(new DOMException("going", "AbortError"));
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started"]);
    expect(delivery.settled).toEqual(["given back"]);
  });

  test("finishes what runs before it stops working", async () => {
    const finish = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const ports = portsWith(
      toolOf(async () => {
        begun.resolve();
        await finish.promise;
        return { content: "finished", isError: false };
      }),
    );
    const queue = new MemoryWorkQueue<ToolCallRequest>();
    const taking = new AbortController();
    await queue.publish(request(), { dedupeId: "1" }, never);
    const working = workCalls(queue, ports, 4, { taking: taking.signal, running: never });
    await begun.promise;
    taking.abort(new DOMException("going", "AbortError"));
    finish.resolve();
    await working;
    expect(resultIn(await factsIn(ports)).content).toBe("finished");
  });
});
