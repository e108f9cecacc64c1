import { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import { emptyTail } from "@reeve/jetstream/log/port";
import { png } from "@reeve/jetstream/test/support/files/png";
import { Failure } from "@reeve/platform/failure";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { costSummaryOf } from "@reeve/run/head/ledger";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { outputOf } from "@reeve/run/head/run-of";
import { describe, expect, test } from "vitest";
import { applyAll } from "../domain/state/apply.ts";
import { initialState } from "../domain/state/run-state.ts";
import type { MediaPart } from "../ports/media-generator.ts";
import { ModelFailure } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { expectOrder } from "../../test/support/event-order.ts";
import { drivenWith } from "../../test/support/media/driven-media.ts";
import { generating, images, painter, paintingAgent } from "../../test/support/media-model.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";
import { historyOf } from "../../test/support/workflow/workflow-run.ts";

const never = new AbortController().signal;
const bench = (play: Parameters<typeof generating>[0] = images) =>
  new WorkerBench(generating(play), [painter]);
const kindsOf = (events: readonly RunEvent[]) => events.map(({ event }) => event.case);
/** What a run has cost, and what its budget counts besides. */
const costsOf = (events: readonly RunEvent[]) => {
  const { head, lostUsd } = applyAll(initialState, events);
  return { costUsd: head.spent.costUsd, lostUsd };
};
const errorOf = (events: readonly RunEvent[]) => foldHead(emptyHead, events).error?.message;

/** Returns the log of a run of the agent that paints. */
async function painted(
  play: Parameters<typeof generating>[0] = images,
  spec = {},
): Promise<readonly RunEvent[]> {
  const runs = await bench(play).create({ ...paintingAgent, ...spec }, { input: "a cat" });
  await runs.drive("w1");
  return await runs.events();
}

// Requirement: CHAT-1, WF-2
describe("a run that generates an image", () => {
  test("records its start, its progress, its cost, and its artifact", async () => {
    const events = await painted();
    expectWhole(events, RunStatus.COMPLETED);
    expectOrder(events);
    const kinds = kindsOf(events);
    expect(kinds.indexOf("mediaPrepared")).toBeLessThan(kinds.indexOf("runPrepared"));
    const from = kinds.indexOf("toolCallStarted");
    expect(kinds.slice(from, from + 5)).toEqual([
      "toolCallStarted",
      "mediaCallStarted",
      "mcpProgress",
      "mediaCallEnded",
      "toolResult",
    ]);
    expect(events[from + 1]?.event.value).toMatchObject({ attempt: 1, reservedUsd: 0.04 });
    expect(events[from + 3]?.event.value).toMatchObject({ files: 1, costUsd: 0.04, failure: "" });
    const head = foldHead(emptyHead, events);
    expect(JSON.parse(outputOf(head))).toMatchObject({
      artifacts: [{ name: "image-1.png", media_type: "image/png", width: 64, height: 48 }],
    });
    expect(costSummaryOf(head.spent)).toMatchObject({ costUsd: 0.04, toolCalls: 1, llmCalls: 0 });
  });

  test("waits for an approval that its agent requires", async () => {
    const runs = await bench().create({ ...paintingAgent, hitlTools: ["generate_image"] });
    await runs.drive("w1");
    expect(kindsOf(await runs.events())).not.toContain("mediaCallStarted");
    const [approval] = approvalsOf(foldHead(emptyHead, await runs.events()));
    expect(approval?.call?.name).toBe("generate_image");
    await runs.decide(ApprovalState.APPROVED);
    await runs.drive("w2", 2);
    expectWhole(await runs.events(), RunStatus.COMPLETED);
  });

  // Requirement: TURN-4
  test("asks no provider if that could exceed its limit on cost", async () => {
    const model = generating(images);
    const runs = new WorkerBench(model, [painter]);
    await runs.create({ ...paintingAgent, budgets: { maxCostUsd: 0.03 } });
    await runs.drive("w1");
    expect(errorOf(await runs.events())).toContain("may cost 0.03 USD");
    expect(model.asked).toEqual([]);
  });
});

/** Returns a history without what names files, whose ids differ between attempts. */
const withoutFiles = (events: readonly RunEvent[]) =>
  historyOf(events).filter((line) => !line.includes("image-1.png"));

// Requirement: DUR-3
test("a generation whose worker was lost is repeated, and the lost attempt is charged at its maximum", async () => {
  const history = await painted();
  for (let survived = 1; survived < history.length; survived++) {
    const before = history.slice(0, survived);
    const next = bench();
    await next.log.append(key, emptyTail, before, never);
    await next.drive("w2");
    const events = await next.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(withoutFiles(events)).toEqual(withoutFiles(history));
    const kinds = kindsOf(before);
    const isLost = kinds.includes("mediaCallStarted") && !kinds.includes("mediaCallEnded");
    expect(applyAll(initialState, events).lostUsd).toBe(isLost ? 0.04 : 0);
    // A batch is never cut between the end of an attempt and its result; the cost of such an attempt would count.
    const isUnanswered = kinds.at(-1) === "mediaCallEnded";
    expect(foldHead(emptyHead, events).spent.costUsd).toBeCloseTo(isUnanswered ? 0.08 : 0.04);
  }
});

/** A provider that fails in one way. */
const failing = (failure: ModelFailure) =>
  async function* (): AsyncIterable<MediaPart> {
    yield* [];
    throw failure;
  };

const file = (bytes: Uint8Array) =>
  async function* (): AsyncIterable<MediaPart> {
    yield { kind: "file", bytes };
  };

test.each([
  [
    "refuses the prompt",
    failing(new ModelFailure("refused", "not this")),
    "refuses to generate this: not this",
  ],
  ["sends an image that is too large", file(png(100_000, 100_000)), "100000 × 100000 pixels"],
  ["sends a page", file(Buffer.from("<html>")), "is not image/png"],
  ["sends nothing", file(new Uint8Array()), "is not image/png"],
  [
    "sends more than an artifact may have",
    file(Buffer.concat([png(), Buffer.alloc(2_000)])),
    "cannot be stored",
  ],
])("a provider that %s fails the node by name", async (_, play, problem) => {
  const events = await painted(play);
  expectWhole(events, RunStatus.ERROR);
  expect(errorOf(events)).toContain(problem);
  expect(kindsOf(events).filter((kind) => kind === "mediaCallEnded")).toHaveLength(1);
});

test("a file has the type of its bytes, whatever was asked for", async () => {
  const [input, draw, ...rest] = paintingAgent.workflow.nodes;
  const nodes = [input, { ...draw, properties: { format: "webp" } }, ...rest];
  const workflow = { ...paintingAgent.workflow, nodes };
  const events = await painted(file(png(64, 48)), { workflow });
  expectWhole(events, RunStatus.COMPLETED);
  expect(JSON.parse(outputOf(foldHead(emptyHead, events)))).toMatchObject({
    artifacts: [{ name: "image-1.png", media_type: "image/png" }],
  });
});

test("a provider that is busy is asked again, and one that had begun is not", async () => {
  let busy = 2;
  const events = await painted(async function* (request) {
    if (busy-- > 0) throw new ModelFailure("rate_limited", "slow down");
    yield* images(request);
  });
  expectWhole(events, RunStatus.COMPLETED);
  const options = { answerBegan: true };
  const broken = await painted(failing(new ModelFailure("unavailable", "gone", options)));
  expect(errorOf(broken)).toContain("gone");
  const ended = broken.find(({ event }) => event.case === "mediaCallEnded");
  expect(ended?.event.value).toMatchObject({ failure: "unavailable", mayBeBilled: true });
  expect(costsOf(broken)).toEqual({ costUsd: 0.04, lostUsd: 0 });
});

// Requirement: TURN-4
test("a provider whose connection is lost is not asked again, and its maximum cost counts", async () => {
  const gone = new ModelFailure("unavailable", "test cannot be reached: other side closed");
  const model = generating(failing(gone));
  const runs = await new WorkerBench(model, [painter]).create(paintingAgent);
  await runs.drive("w1");
  const events = await runs.events();
  expect(model.asked).toHaveLength(1);
  const ended = events.find(({ event }) => event.case === "mediaCallEnded");
  expect(ended?.event.value).toMatchObject({ failure: "unavailable", mayBeBilled: true });
  expect(costsOf(events)).toEqual({ costUsd: 0.04, lostUsd: 0 });
});

test("no more files are stored than were asked for", async () => {
  const events = await painted(async function* () {
    for (let number = 0; number < 30; number++) yield { kind: "file", bytes: png(64, 48) };
  });
  expectWhole(events, RunStatus.COMPLETED);
  const ended = events.find(({ event }) => event.case === "mediaCallEnded");
  expect(ended?.event.value).toMatchObject({ files: 1, costUsd: 0.04 });
});

const away = (what: string) => new Failure("unavailable", ErrorReason.UNAVAILABLE, what);

/** A store that puts in another way. */
const puttingBy = ({ artifacts }: RunPorts, put: RunPorts["artifacts"]["put"]) => ({
  artifacts: {
    get: artifacts.get.bind(artifacts),
    getStored: artifacts.getStored.bind(artifacts),
    read: artifacts.read.bind(artifacts),
    put,
  },
});

test("a store that is away for a moment loses no file that is paid for", async () => {
  let failures = 2;
  const { runs, driven } = await drivenWith((ports) =>
    puttingBy(ports, async (...given) => {
      if (failures-- > 0) throw away("NATS has no leader");
      return await ports.artifacts.put(...given);
    }),
  );
  await driven;
  expectWhole(await runs.events(), RunStatus.COMPLETED);
});

// Requirement: CAN-3
test("a cancelled run does not wait for a store that does not react", async () => {
  const { promise: storing, resolve } = Promise.withResolvers<void>();
  const { runs, driven } = await drivenWith((ports) =>
    puttingBy(ports, async () => {
      resolve();
      return await new Promise<never>(() => undefined);
    }),
  );
  await storing;
  await cancelRun(runs, key, { requestedBy: "ann", reason: "enough" }, never);
  await driven;
  expectWhole(await runs.events(), RunStatus.CANCELLED);
});

test("a registry that cannot be read fails the call without a charge: nobody was asked", async () => {
  const { runs, model, driven } = await drivenWith((ports) => {
    const catalogs = ports.catalogs();
    const models = catalogs.models.models.map((each) => ({ ...each, hasStoredProvider: true }));
    return {
      catalogs: () => ({ ...catalogs, models: { ...catalogs.models, models } }),
      provider: () => undefined,
      refreshModels: () => Promise.reject(away("the bucket is not open yet")),
    };
  });
  await driven;
  const events = await runs.events();
  expect(model.asked).toEqual([]);
  const ended = events.find(({ event }) => event.case === "mediaCallEnded");
  expect(ended?.event.value).toMatchObject({ failure: "not_configured", mayBeBilled: false });
  expect(errorOf(events)).toContain("the registry of models cannot be read");
});

// Requirement: CAN-3, CHAT-5
test("a cancelled run stops the generation, and costs what it may be billed", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const { promise: stopped, resolve: stops } = Promise.withResolvers<void>();
  const runs = await bench(async function* (_request, signal): AsyncIterable<MediaPart> {
    signal.addEventListener("abort", () => stops(), { once: true });
    resolve();
    await stopped;
    yield* [];
  }).create(paintingAgent);
  const driven = runs.drive("w1");
  await asked;
  await cancelRun(runs, key, { requestedBy: "ann", reason: "enough" }, never);
  await driven;
  const events = await runs.events();
  expectWhole(events, RunStatus.CANCELLED);
  const ended = events.filter(({ event }) => event.case === "mediaCallEnded");
  expect(ended.map(({ event }) => event.value)).toMatchObject([
    { model: "painter", failure: "cancelled", mayBeBilled: true, costUsd: 0.04 },
  ]);
  const summary = events.find(({ event }) => event.case === "costSummary");
  expect(summary?.event.value).toMatchObject({ costUsd: 0.04 });
  expect(costsOf(events)).toEqual({ costUsd: 0.04, lostUsd: 0 });
});
