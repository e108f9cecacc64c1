import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Notification } from "@reeve/contracts/notification";
import { NotificationEvent, NotificationSchema } from "@reeve/contracts/notification";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { RunFeed } from "@reeve/jetstream/feed/run-feed";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { noon, receiverOf } from "../../test/support/notifications.ts";
import { describe } from "./formats/describe.ts";
import { standardMessage } from "./formats/standard.ts";
import { publishNotifications } from "./publish-notifications.ts";

const noTimes = () => undefined;
const never = new AbortController().signal;
const log = createLogger("test", "silent");
const key = { tenant: "acme", run: "run_abcdefgh" };
const { PENDING, APPROVED, SUPERSEDED, WITHDRAWN } = ApprovalState;
const { REQUESTED, ESCALATED, RESOLVED, BREAK_GLASS } = NotificationEvent;

const canary = "canary-of-the-arguments";
const call = { callId: "call_1", name: "deploy", arguments: { token: canary } };

/** An approval that escalated at each of some revisions. */
const asked = (
  name: string,
  state: ApprovalState,
  revision = 0,
  escalated: readonly number[] = [],
): ExternalFact => ({
  case: "approval",
  value: {
    approval: {
      approvalId: `${key.run}-${name}`,
      runId: key.run,
      agentId: "release",
      state,
      revision,
      call,
      votes: [{ decision: { reason: canary } }],
      escalations: escalated.map((at) => ({
        revision: at,
        alternative: { name: `e${at}`, groups: [`group-${at}`] },
      })),
    },
  },
});

async function logOf(...facts: readonly ExternalFact[]) {
  const runs = memoryRunLog();
  let tail = emptyTail;
  for (const event of facts) {
    const fields = { runId: key.run, sequence: tail.sequence + 1, event };
    const next = create(RunEventSchema, { ...fields, time: timestampFromMs(noon) });
    const appended = await runs.append(key, tail, [next], never);
    if (appended.kind === "appended") ({ tail } = appended);
  }
  return runs;
}

/** Publishes the facts, each batch twice, at `nowMs`. Returns what each receiver has in its queue. */
async function published(
  facts: readonly ExternalFact[],
  receivers: readonly Readonly<Record<string, unknown>>[],
  nowMs = noon,
): Promise<readonly (readonly Notification[])[]> {
  const runs = await logOf(...facts);
  const acknowledged: number[] = [];
  const feed: RunFeed = {
    async *consume() {
      for (const [index, batch] of [...runs.batches, ...runs.batches].entries()) {
        yield { ...batch, acknowledge: () => void acknowledged.push(index) };
      }
    },
  };
  const queues = receivers.map((fields) => ({
    receiver: receiverOf(fields),
    queue: new MemoryWorkQueue<Notification>(),
  }));
  const clock = new ManualClock(nowMs);
  const ports = { log: runs, receivers: queues, clock, times: noTimes, maxAgeMs: 60_000 };
  await publishNotifications(feed, ports, log, never);
  expect(acknowledged).toHaveLength(facts.length * 2);
  return await Promise.all(queues.map(({ queue }) => contentOf(queue)));
}

async function contentOf(queue: MemoryWorkQueue<Notification>): Promise<readonly Notification[]> {
  const found: Notification[] = [];
  const count = queue.length;
  if (count === 0) return found;
  for await (const { message } of queue.take(count, never)) {
    found.push(message);
    if (found.length === count) break;
  }
  return found;
}

const outline = (notifications: readonly Notification[] = []) =>
  notifications.map(({ event, approval }) => [event, approval?.approvalId.at(-1), approval?.state]);

test("each receiver gets every request and every resolution once, although batches repeat", async () => {
  const facts = [
    asked("a", PENDING),
    asked("b", PENDING),
    asked("a", PENDING, 1),
    asked("a", APPROVED, 2),
    asked("a", SUPERSEDED, 3),
    { case: "status", value: { status: RunStatus.CANCELLED } } as const,
  ];
  const [first, second] = await published(facts, [{}, { name: "other" }]);
  expect(outline(first)).toEqual([
    [REQUESTED, "a", PENDING],
    [REQUESTED, "b", PENDING],
    [RESOLVED, "a", APPROVED],
    [RESOLVED, "a", SUPERSEDED],
    [RESOLVED, "b", WITHDRAWN],
  ]);
  expect(outline(second)).toEqual(outline(first));
  const ids = [first, second].flatMap((all = []) =>
    all.map(({ notificationId }) => notificationId),
  );
  expect(new Set(ids).size).toBe(10);
  for (const id of ids) expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
});

const describeFor = (notification = create(NotificationSchema)) =>
  describe(notification, "https://reeve.example.com");

test("each escalation reaches the receivers that want it once, with who may decide since then", async () => {
  const facts = [
    asked("a", PENDING, 0, [0, 0]),
    asked("a", PENDING, 1, [1, 0]),
    asked("a", PENDING, 2, [1, 0]),
    asked("a", PENDING, 3, [1, 3]),
  ];
  const [all = [], some] = await published(facts, [{}, { events: ["resolved"] }]);
  expect(all.map(({ event, approval }) => [event, approval?.revision])).toEqual([
    [REQUESTED, 0],
    [ESCALATED, 1],
    [ESCALATED, 3],
  ]);
  expect(all.map((each) => standardMessage(each, "https://reeve.example.com"))).toMatchObject([
    { type: "approval.requested" },
    { type: "approval.escalated", data: { escalated_to: [{ groups: ["group-1"] }] } },
    { type: "approval.escalated", data: { escalated_to: [{ groups: ["group-3"] }] } },
  ]);
  const { title, facts: lines } = describeFor(all[1]);
  expect(title).toBe("Approval escalated: deploy");
  expect(lines).toContainEqual(["More people may decide", "group group-1"]);
  expect(some).toEqual([]);
});

/** An approval that somebody decided by break-glass. */
const broken = (revision: number, state: ApprovalState): ExternalFact => ({
  case: "approval",
  value: {
    approval: {
      approvalId: `${key.run}-a`,
      state,
      revision,
      call,
      decision: {
        approved: true,
        decidedBy: "lea",
        reason: "an emergency",
        breakGlass: { rule: "incidents", freeze: "lunch", withoutVotes: true },
      },
    },
  },
});

test("break-glass has a notification of its own, besides the one that the approval is resolved", async () => {
  const facts = [broken(1, APPROVED), broken(2, SUPERSEDED)];
  const [all = [], some = []] = await published(facts, [{}, { events: ["break_glass"] }]);
  expect(all.map(({ event }) => event)).toEqual([RESOLVED, BREAK_GLASS, RESOLVED]);
  expect(new Set(all.map(({ notificationId }) => notificationId)).size).toBe(3);
  expect(some.map((each) => standardMessage(each, "https://reeve.example.com"))).toMatchObject([
    {
      type: "approval.break_glass",
      data: {
        state: "approved",
        decision: { decided_by: "lea", break_glass: { rule: "incidents", freeze: "lunch" } },
      },
    },
  ]);
  const { title, facts: lines } = describeFor(some[0]);
  expect(title).toBe("Approved by break-glass: deploy");
  expect(lines).toContainEqual(["Break-glass", "incidents"]);
});

test("settings select tenants, agents, and events", async () => {
  const facts = [asked("a", PENDING), asked("a", APPROVED, 1)];
  const receivers = [
    { events: ["requested"] },
    { events: ["resolved"] },
    { tenants: ["globex"] },
    { tenants: ["globex", "acme"], agents: ["release"] },
    { agents: ["another"] },
  ];
  const counts = (await published(facts, receivers)).map(({ length }) => length);
  expect(counts).toEqual([1, 1, 0, 2, 0]);
});

test("arguments and votes leave the deployment only where the settings say so, and shortened", async () => {
  const long: ExternalFact = {
    case: "approval",
    value: {
      approval: {
        approvalId: `${key.run}-l`,
        state: PENDING,
        call: { ...call, arguments: { text: "x".repeat(100_000) } },
      },
    },
  };
  const receivers = [{}, { include_arguments: true }];
  const [without = [], within = []] = await published([asked("a", PENDING), long], receivers);
  const sizes = without.map((each) => Buffer.from(toBinary(NotificationSchema, each)));
  for (const bytes of sizes) expect(bytes.includes(canary)).toBe(false);
  expect(within[0]?.arguments).toBe(JSON.stringify(call.arguments));
  expect(within[0]?.approval?.votes).toEqual([]);
  expect(within[1]?.arguments).toHaveLength(4_001);
});

test("facts that are older than the maximum age are not published", async () => {
  expect(await published([asked("a", PENDING)], [{}], noon + 60_001)).toEqual([[]]);
});

// Requirement: TRIG-6
test("the end of a run is published to the receivers that ask for it, without what it says", async () => {
  const created: ExternalFact = {
    case: "runCreated",
    value: { agentId: "release", input: canary, startedBy: "ann", labels: { trigger: "nightly" } },
  };
  const failed: ExternalFact = { case: "status", value: { status: RunStatus.ERROR } };
  const [asking = [], other, ofOthers] = await published(
    [created, failed],
    [{ events: ["run_ended"] }, {}, { events: ["run_ended"], agents: ["writer"] }],
  );
  expect([other, ofOthers]).toEqual([[], []]);
  expect(asking).toHaveLength(1);
  const [notification] = asking;
  if (notification === undefined) throw new Error("nothing was published");
  expect(standardMessage(notification, "https://reeve.example.com")).toEqual({
    type: "run.ended",
    timestamp: "2026-01-01T12:00:00.000Z",
    data: {
      tenant: "acme",
      run_id: key.run,
      agent_id: "release",
      started_by: "ann",
      status: "error",
      labels: { trigger: "nightly" },
      url: `https://reeve.example.com/runs/${key.run}`,
    },
  });
  expect(describe(notification, "https://reeve.example.com").title).toBe("Run error: release");
  expect(Buffer.from(toBinary(NotificationSchema, notification)).includes(canary)).toBe(false);
});
