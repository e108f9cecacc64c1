import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { chunk, done, usageChunk } from "../support/model-answers.ts";
import type { ModelServer } from "../support/model-server.ts";
import { startModelServer } from "../support/model-server.ts";
import type { ReceivedSpan, SpanReceiver } from "./support/span-receiver.ts";
import { receiveSpans } from "./support/span-receiver.ts";
import { approve, eventOf, watchToEnd } from "./support/watching.ts";

const startRun = "reeve.run.v1.RunService/StartRun";
const decideApproval = "reeve.approval.v1.ApprovalService/DecideApproval";
const secretKey = "sk-never-to-be-seen";
const input = "publish-what-nobody-else-may-read";

let models: ModelServer;
let receiver: SpanReceiver;
let deployment: Deployment;

beforeAll(async () => {
  receiver = await receiveSpans();
  models = await startModelServer();
  deployment = await Deployment.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: "50",
    OPENAI_API_KEY: secretKey,
    OPENAI_BASE_URL: models.url,
  });
  await deployment.agent("publish", {
    permissionClasses: ["execute"],
    hitlTools: ["publish_report"],
    deepAgent: { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) },
  });
  // A word every tenth of a second, without end: time to kill the runtime between two words.
  await deployment.agent("talker", { model: "openai:paced:10000:100" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function start(agentId: string): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input });
  return run?.runId ?? "";
}

/** Returns the trace of a run once its last span, that of the agent, has arrived. */
async function traceOf(runId: string): Promise<readonly ReceivedSpan[]> {
  const ends = ({ name, attributes }: ReceivedSpan) =>
    name.startsWith("invoke_agent") &&
    attributes["reeve.run.id"] === runId &&
    attributes["reeve.run.rest"] === "ended";
  const spans = await receiver.until((all) => all.some(ends));
  const traceId = spans.find(ends)?.traceId;
  return spans.filter((span) => span.traceId === traceId);
}

function named(trace: readonly ReceivedSpan[], name: string): readonly ReceivedSpan[] {
  return trace.filter((span) => span.name === name);
}

function refOf(span: ReceivedSpan | undefined): string {
  return `${span?.traceId}-${span?.spanId}`;
}

/** Returns the path of names from the root to each span. */
function paths(trace: readonly ReceivedSpan[]): readonly string[] {
  const pathOf = ({ parentId, name }: ReceivedSpan): string => {
    if (parentId === "") return name;
    const parent = trace.find(({ spanId }) => spanId === parentId);
    return `${parent === undefined ? "(lost)" : pathOf(parent)} > ${name}`;
  };
  return trace.map(pathOf).toSorted();
}

const dispatch = `${startRun} > send dispatch.run > claim_run`;
const agent = "invoke_agent publish";
const resumed = `${startRun} > resolve_approval > send dispatch.run > claim_run > ${agent}`;

describe("the trace of a run", () => {
  // Requirement: OPS-2
  test("spans four processes, and continues when the runtime is killed while an approval is pending", async () => {
    const runId = await start("publish");
    await eventOf(deployment, runId, "runParked");
    await receiver.until((spans) =>
      spans.some(
        ({ attributes }) =>
          attributes["reeve.run.rest"] === "parked" && attributes["reeve.run.id"] === runId,
      ),
    );
    await deployment.kill("runtime");
    await deployment.start("runtime");
    await approve(deployment, runId);
    await watchToEnd(deployment, runId);

    const ended = await traceOf(runId);
    // Each process sends its spans in batches: those of another process may follow the last span of the run.
    const traceNow = () => receiver.spans.filter(({ traceId }) => traceId === ended[0]?.traceId);
    await expect
      .poll(() => paths(traceNow()))
      .toEqual(
        [
          startRun,
          `${startRun} > send dispatch.run`,
          dispatch,
          `${dispatch} > ${agent}`,
          `${dispatch} > ${agent} > chat publish`,
          `${dispatch} > ${agent} > chat publish`,
          `${dispatch} > ${agent} > execute_tool execute_code`,
          `${dispatch} > ${agent} > send tool.call.default`,
          // The files of the call are inspected before its approval is requested.
          `${dispatch} > ${agent} > execute_tool inspect_files`,
          `${dispatch} > ${agent} > send tool.call.default`,
          `${startRun} > resolve_approval`,
          `${startRun} > resolve_approval > send dispatch.run`,
          `${startRun} > resolve_approval > send dispatch.run > claim_run`,
          resumed,
          `${resumed} > chat publish`,
          `${resumed} > execute_tool publish_report`,
          `${resumed} > send tool.call.default`,
        ].toSorted(),
      );
    const trace = traceNow();
    expect(new Set(trace.map(({ service }) => service))).toEqual(
      new Set(["reeve-gateway", "reeve-runtime", "reeve-toolhost", "reeve-approvals"]),
    );
    const [first, second] = named(trace, "claim_run");
    const [resolved] = named(trace, "resolve_approval");
    expect(second?.links).toEqual([refOf(first)]);
    expect(resolved?.attributes).toMatchObject({ "reeve.approval.state": "approved" });
    // The person's request has its own trace with one root, linked to the run's.
    const decided = resolved?.links[0]?.split("-")[0];
    const deciding = () =>
      named(receiver.spans, decideApproval).filter(({ traceId }) => traceId === decided);
    await expect
      .poll(() =>
        deciding()
          .map(({ service }) => service)
          .toSorted(),
      )
      .toEqual(["reeve-approvals", "reeve-gateway", "reeve-gateway"]);
    const served = deciding().find(({ service }) => service === "reeve-approvals");
    expect(resolved?.links).toEqual([refOf(served), refOf(first)]);
    expect(deciding().filter(({ parentId }) => parentId === "")).toHaveLength(1);
    // Waiting is an event of the waiting span and has no span of its own.
    expect(named(trace, agent).map(({ events }) => events)).toEqual([["approval_requested"], []]);
    const [chat] = named(trace, "chat publish");
    expect(chat?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "scripted",
      "gen_ai.request.model": "publish",
    });
  });

  test("continues when the runtime is killed during a model call, with a link to the previous claim", async () => {
    const runId = await start("talker");
    await eventOf(deployment, runId, "text");
    const claimed = (spans: readonly ReceivedSpan[]) =>
      spans.filter(
        ({ name, attributes }) => name === "claim_run" && attributes["reeve.run.id"] === runId,
      );
    await receiver.until((spans) => claimed(spans).length === 1);
    await deployment.kill("runtime");
    const answer = [chunk({ content: "Done." }), chunk({}, "stop"), usageChunk(10, 20), done];
    models.program({ headers: { "content-type": "text/event-stream" }, body: answer });
    await deployment.start("runtime");
    await watchToEnd(deployment, runId);
    expect((await deployment.reeve.runs.getRun({ runId })).run?.status).toBe(RunStatus.COMPLETED);

    const trace = await traceOf(runId);
    const [first, second] = named(trace, "claim_run");
    expect(second?.links).toEqual([refOf(first)]);
    expect(second?.parentId).toBe(first?.parentId);
    expect(paths(trace).filter((path) => !path.startsWith(startRun))).toEqual([]);
    expect(trace.filter(({ parentId }) => parentId === "")).toHaveLength(1);
    const chat = named(trace, "chat paced:10000:100").at(-1);
    expect(chat?.attributes).toMatchObject({
      "gen_ai.provider.name": "openai",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.output_tokens": 20,
    });
    expect(chat?.attributes["gen_ai.response.time_to_first_chunk"]).toBeGreaterThan(0);
  });

  test("does not affect the run when the collector hangs, and no service waits for the collector to end", async () => {
    const hung = receiver.hang();
    const runId = await start("publish");
    await hung;
    await eventOf(deployment, runId, "runParked");
    await approve(deployment, runId);
    await watchToEnd(deployment, runId);
    expect((await deployment.reeve.runs.getRun({ runId })).run?.status).toBe(RunStatus.COMPLETED);
    // An exporter waits ten seconds for an answer, repeatedly.
    const names = ["gateway", "approvals", "runtime", "toolhost"] as const;
    expect(await Promise.all(names.map((name) => deployment.end(name)))).toEqual([0, 0, 0, 0]);
  });

  // Requirement: OPS-2
  test("contains no contents and no secrets", () => {
    const all = Buffer.concat(receiver.raw).toString("latin1");
    expect(all).toContain("gen_ai.usage.output_tokens");
    for (const secret of [
      input,
      "counter.txt",
      "Published",
      "report.md",
      deployment.token,
      secretKey,
    ]) {
      expect(all).not.toContain(secret);
    }
  });
});
