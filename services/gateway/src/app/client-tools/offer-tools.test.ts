import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OfferToolsResponse } from "@reeve/contracts/tool";
import {
  AnswerToolCallRequestSchema,
  OfferToolsRequestSchema,
  OfferToolsResponseSchema,
} from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { ClientCallState, RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../../test/support/memory-ports.ts";
import { ann, appendFacts, memoryPorts, storeAgent } from "../../../test/support/memory-ports.ts";
import { startRun } from "../start-run.ts";
import { answerToolCall } from "./answer-tool-call.ts";
import { offerTools } from "./offer-tools.ts";

const never = new AbortController().signal;
let streams = 0;

/** A connected client. */
class Page implements AsyncDisposable {
  readonly #end = new AbortController();
  readonly #messages: AsyncIterator<OfferToolsResponse>;

  constructor(
    ports: MemoryPorts,
    target: object,
    clientId = "page",
    caller = ann,
    description = "picks",
  ) {
    const tools = [{ name: "pick", description }];
    const request = create(OfferToolsRequestSchema, {
      manifest: { clientId, tools },
      ...target,
    });
    const offered = offerTools(ports, caller, request, `s${++streams}`, this.#end.signal);
    this.#messages = messagesOf(offered);
  }

  async next(): Promise<OfferToolsResponse["event"]> {
    const { value, done } = await this.#messages.next();
    return done === true ? { case: undefined } : value.event;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#messages.next().catch(() => undefined);
  }
}

async function* messagesOf(offered: ReturnType<typeof offerTools>) {
  for await (const message of offered) yield create(OfferToolsResponseSchema, message);
}

const toThread = { target: { case: "threadId", value: "talk" } } as const;

async function start(ports: MemoryPorts, more: object = {}) {
  const request = { agentId: "helper", input: "go", threadId: "talk", ...more };
  const message = create(StartRunRequestSchema, request);
  return await startRun(ports, ann, message, never);
}

/** A worker opens a call of the run. */
async function opens(ports: MemoryPorts, runId: string, callId = "c1"): Promise<void> {
  const deadline = timestampFromMs(Date.now() + 60_000);
  const opened = { callId, name: "pick", arguments: { of: "3" }, deadline };
  const value = { ...opened, state: ClientCallState.OPEN };
  await appendFacts(ports.log, runId, { case: "clientCall", value });
}

async function withAgent(): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await storeAgent(ports, "helper");
  return ports;
}

const offeredIn = async (ports: MemoryPorts, runId: string) => {
  const [first] = (
    await ports.log.read(
      { tenant: "acme", run: runId },
      { sequence: 0, revision: 0, digest: "" },
      never,
    )
  ).events;
  return first?.event.case === "runCreated" ? first.event.value.offeredTools : [];
};

// Requirement: CHAT-8
test("a run of a thread has the tools that clients offer to it, and the client receives and answers its call", async () => {
  const ports = await withAgent();
  await using page = new Page(ports, toThread);
  expect(await page.next()).toMatchObject({ case: "ready", value: { warnings: [] } });
  const { run } = await start(ports);
  expect(await offeredIn(ports, run.runId)).toMatchObject([
    { name: "pick", source: "client:page" },
  ]);
  await opens(ports, run.runId);
  expect(await page.next()).toMatchObject({
    case: "call",
    value: { runId: run.runId, callId: "c1", arguments: { of: "3" }, repeatedDelivery: false },
  });
  const answer = { runId: run.runId, callId: "c1", clientId: "page" };
  const text = { case: "text", value: "red" } as const;
  await answerToolCall(
    ports,
    ann,
    { ...answer, $typeName: "reeve.tool.v1.AnswerToolCallRequest", answer: text },
    never,
  );
  expect(await page.next()).toMatchObject({ case: "closed", value: { callId: "c1" } });
});

test("a client that connects again receives the call that it took, and no other client does", async () => {
  const ports = await withAgent();
  const first = new Page(ports, toThread);
  await first.next();
  const { run } = await start(ports);
  await opens(ports, run.runId);
  await first.next();
  await first[Symbol.asyncDispose]();
  await using other = new Page(ports, toThread, "other");
  await other.next();
  await using again = new Page(ports, toThread);
  await again.next();
  expect(await again.next()).toMatchObject({
    case: "call",
    value: { callId: "c1", repeatedDelivery: true },
  });
  // The other client gets the next call at most.
  await appendFacts(ports.log, run.runId, {
    case: "status",
    value: { status: RunStatus.CANCELLED },
  });
  expect(await again.next()).toMatchObject({ case: "closed", value: { callId: "c1" } });
});

test("a client with another version of a tool still receives the call that it took", async () => {
  const ports = await withAgent();
  const first = new Page(ports, toThread);
  await first.next();
  const { run } = await start(ports);
  await opens(ports, run.runId);
  await first.next();
  await first[Symbol.asyncDispose]();
  await using again = new Page(ports, toThread, "page", ann, "picks better");
  await again.next();
  expect(await again.next()).toMatchObject({
    case: "call",
    value: { callId: "c1", repeatedDelivery: true },
  });
});

test("a client that connects to a prepared run learns which of its tools the run does not have", async () => {
  const ports = await withAgent();
  const clientTools = { clientId: "page", tools: [{ name: "pick", description: "picks" }] };
  const { run } = await start(ports, { threadId: "", clientTools });
  await appendFacts(ports.log, run.runId, { case: "runPrepared", value: {} });
  await using page = new Page(ports, { target: { case: "runId", value: run.runId } });
  expect(await page.next()).toMatchObject({
    case: "ready",
    value: { warnings: [expect.stringContaining("does not have the tool pick")] },
  });
});

test("a structured answer that would fill the log is refused by field, and the call stays open", async () => {
  const ports = await withAgent();
  await using page = new Page(ports, toThread);
  await page.next();
  const { run } = await start(ports);
  await opens(ports, run.runId);
  await page.next();
  const ids = { runId: run.runId, callId: "c1", clientId: "page" };
  const answer = (structured: JsonObject) =>
    create(AnswerToolCallRequestSchema, {
      ...ids,
      answer: { case: "structured", value: structured },
    });
  const large = answer({ a: Array.from({ length: 99_990 }, () => 1) });
  await expect(answerToolCall(ports, ann, large, never)).rejects.toMatchObject({
    kind: "invalid",
    violations: [{ field: "structured", reason: "TOO_LARGE" }],
  });
  await answerToolCall(ports, ann, answer({ a: [1] }), never);
});

test("only the client that took a call may answer it, once", async () => {
  const ports = await withAgent();
  await using page = new Page(ports, toThread);
  await page.next();
  const { run } = await start(ports);
  await opens(ports, run.runId);
  await page.next();
  const answer = (clientId: string, text: string) =>
    create(AnswerToolCallRequestSchema, {
      runId: run.runId,
      callId: "c1",
      clientId,
      answer: { case: "text", value: text },
    });
  await expect(answerToolCall(ports, ann, answer("other", "red"), never)).rejects.toMatchObject({
    reason: ErrorReason.PERMISSION_DENIED,
  });
  await answerToolCall(ports, ann, answer("page", "red"), never);
  await answerToolCall(ports, ann, answer("page", "red"), never);
  await expect(answerToolCall(ports, ann, answer("page", "blue"), never)).rejects.toMatchObject({
    reason: ErrorReason.CALL_ANSWERED,
  });
});

test("a thread has 16 clients at most", async () => {
  const ports = await withAgent();
  await using pages = new AsyncDisposableStack();
  for (let index = 0; index < 16; index++) {
    await pages.use(new Page(ports, toThread, `p${index}`)).next();
  }
  await using another = new Page(ports, toThread, "p16");
  await expect(another.next()).rejects.toMatchObject({ reason: ErrorReason.TOO_MANY_CLIENTS });
});

test("a second stream of a client ends the first", async () => {
  const ports = await withAgent();
  await using first = new Page(ports, toThread);
  await first.next();
  await using second = new Page(ports, toThread);
  await second.next();
  const { run } = await start(ports);
  await opens(ports, run.runId);
  await expect(first.next()).rejects.toMatchObject({ reason: ErrorReason.OFFER_REPLACED });
  expect(await second.next()).toMatchObject({ case: "call", value: { callId: "c1" } });
});

test("a person cannot take the place of a client of another one", async () => {
  const ports = await withAgent();
  await using first = new Page(ports, toThread);
  await first.next();
  const eve = { ...ann, subject: "eve" } as unknown as typeof ann;
  await using second = new Page(ports, toThread, "page", eve);
  await expect(second.next()).rejects.toMatchObject({ kind: "denied" });
});

test("a run with the memories of its user gets only the tools of the user", async () => {
  const ports = await withAgent();
  const eve = { ...ann, subject: "eve" } as unknown as typeof ann;
  await using other = new Page(ports, toThread, "theirs", eve);
  await other.next();
  const { run } = await start(ports, { memoryEnabled: true });
  expect(await offeredIn(ports, run.runId)).toEqual([]);
});

test("a run has the tools of its request, which a client serves by the id of the run, until it ends", async () => {
  const ports = await withAgent();
  const clientTools = { clientId: "page", tools: [{ name: "pick", description: "picks" }] };
  const { run } = await start(ports, { threadId: "", clientTools });
  await opens(ports, run.runId);
  await using page = new Page(ports, { target: { case: "runId", value: run.runId } });
  expect(await page.next()).toMatchObject({ case: "ready", value: { warnings: [] } });
  expect(await page.next()).toMatchObject({ case: "call" });
  await appendFacts(ports.log, run.runId, {
    case: "status",
    value: { status: RunStatus.CANCELLED },
  });
  expect(await page.next()).toMatchObject({ case: "closed" });
  expect(await page.next()).toEqual({ case: undefined });
});

test.each([
  [{ permissionClass: "execute" }, "permission_class"],
  [{ permissionClass: "safe" }, "permission_class"],
  [{ timeout: { seconds: 601n } }, "timeout"],
  [{ timeout: { seconds: 31n * 86_400n }, answeredByPerson: true }, "timeout"],
  [{ inputSchema: { type: "string" } }, "input_schema"],
  [{ outputSchema: { type: "object", properties: { a: { type: "nothing" } } } }, "output_schema"],
])("a manifest with %o is refused by field, and starts no run", async (wrong, field) => {
  const ports = await withAgent();
  const clientTools = { clientId: "page", tools: [{ name: "pick", ...wrong }] };
  await expect(start(ports, { clientTools })).rejects.toMatchObject({
    kind: "invalid",
    violations: [{ field: `client_tools.tools[0].${field}` }],
  });
  expect(ports.dispatch.length).toBe(0);
});
