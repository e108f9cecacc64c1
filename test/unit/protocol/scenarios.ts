import { create } from "@bufbuild/protobuf";
import {
  ApprovalSchema,
  ApprovalState,
  DecideApprovalRequestSchema,
} from "@reeve/contracts/approval";
import { DispatchSchema, RunStatus } from "@reeve/contracts/run";
import { allRoles } from "@reeve/platform/rpc/roles";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { expireApproval } from "@reeve/run/approvals/expire-approval";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunHead } from "@reeve/run/head/run-head";
import { approvalOf, approvalsOf, messageOf, pendingApprovals } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { Breakage, Play } from "./play.ts";
import { startedBefore } from "./past-starts.ts";
import { key, never } from "./play.ts";
import { sleeping } from "./players.ts";
import { ProtocolWorld } from "./protocol-world.ts";
import type { Actor } from "./scheduler.ts";

/** Creates the same world each time. */
export type Scenario = (breakage?: Breakage) => Promise<ProtocolWorld>;

/** A dispatched run, and idle workers. */
export function fresh(play: Play, ...others: readonly Other[]): Scenario {
  return async (breakage) => {
    const world = (await new ProtocolWorld(play, breakage).create()).begin();
    for (const other of others) other(world);
    return world;
  };
}

/** A run that waits for an approval and has been released by its worker. */
export function parked(play: Play, ...others: readonly Other[]): Scenario {
  return async (breakage) => {
    const world = (
      await new ProtocolWorld({ ...play, tool: "approved" }, breakage).create()
    ).begin();
    await world.advance();
    for (const other of others) other(world);
    return world;
  };
}

/** An actor beside the workers. */
type Other = (world: ProtocolWorld) => void;

/** A gateway sweeps the run once, at any time. */
export const sweeping: Other = (world) => world.start("sweeper", (actor) => world.sweep(actor));

/** A gateway receives the request for the run again, much later, and dispatches the run if it sees no claim. */
export const repeating: Other = (world) =>
  world.start("gateway", async (actor) => {
    const { events } = await world.log.of(actor).read(key, emptyTail, never());
    if (events.some(({ event }) => event.case === "runClaimed")) return;
    const message = create(DispatchSchema, {
      tenant: key.tenant,
      runId: key.run,
      afterSequence: 1,
    });
    await world.outside(actor).dispatch.publish(message, { dedupeId: "once more" }, never());
  });

/** A call's request is published again, as by a worker that received no answer to the first publish. */
export const askingAgain: Other = (world) =>
  world.start("asker", async (actor) => {
    await world.scheduler.act({
      actor,
      label: "sees a call",
      kind: "look",
      isPossible: () => world.calls.published !== undefined,
      happen: async () => undefined,
      outcomeOf: () => "",
    });
    const request = world.calls.published;
    if (request === undefined) return;
    await world.calls.of(actor).publish(request, { dedupeId: "once more" });
  });

/** A person approves as soon as an approval is pending. */
export function approving(name = "person"): Other {
  return writing(
    name,
    (head) =>
      approvalsOf(head)
        .filter(({ state }) => state === ApprovalState.PENDING)
        .map((pending) => ({
          case: "approval",
          value: {
            approval: create(ApprovalSchema, { ...pending, state: ApprovalState.APPROVED }),
          },
        })),
    (head) => pendingApprovals(head).length > 0,
  );
}

/** A client sends a message to the run. */
export function messaging(name = "sender"): Other {
  const value = { messageId: name, message: { text: "and this" } };
  return writing(name, (head) =>
    isTerminal(head.status) || messageOf(head, name) !== undefined
      ? []
      : [{ case: "messageSubmitted", value }],
  );
}

/** A client cancels the run. */
export const cancelling: Other = (world) =>
  world.start("canceller", (actor) => cancel(world, actor));

/** A client cancels the run, and again until that is confirmed. */
const cancellingUntilConfirmed: Other = (world) => {
  cancelling(world);
  world.rounds.push((round) => {
    if (world.rules.isCancelConfirmed) return;
    world.start(`canceller of round ${round}`, (actor) => cancel(world, actor));
  });
};

/** A client cancels the run, and another one does if that never happens. Nobody asks again for a run that has ended. */
const cancellingOnce: Other = (world) => {
  cancelling(world);
  world.rounds.push((round) => {
    if (isTerminal(world.rules.head.status)) return;
    world.start(`canceller of round ${round}`, (actor) => cancel(world, actor));
  });
};

async function cancel(world: ProtocolWorld, actor: Actor): Promise<void> {
  const by = { requestedBy: "ann", reason: "enough" };
  const { status } = await cancelRun(world.outside(actor), key, by, never());
  world.rules.isCancelConfirmed = status === RunStatus.CANCELLED;
  world.rules.promised.push((head) =>
    isTerminal(head.status) ? undefined : "a cancelled run continues",
  );
}

/** A person decides the pending approval. A decision that is confirmed stands. */
export function deciding(name: string, approved: boolean): Other {
  return (world) =>
    world.start(name, async (actor) => {
      const approvalId = await pendingApproval(world, actor);
      const principal = { tenant: key.tenant, subject: name, roles: allRoles };
      const clock = { now: () => 0, sleep: sleeping(world.scheduler, actor) };
      const ports = { ...world.outside(actor), clock, steadyClock: clock };
      const request = create(DecideApprovalRequestSchema, { approvalId, approved });
      await decideApproval(ports, principal, request, never());
      const decided = approved ? ApprovalState.APPROVED : ApprovalState.REJECTED;
      world.rules.promised.push((head) => {
        const { state, decision } = approvalOf(head, approvalId) ?? {};
        const stands = state === decided && decision?.decidedBy === name;
        return stands ? undefined : `the confirmed decision of ${name} does not count`;
      });
    });
}

/** The pending approval expires. */
export const expiring: Other = (world) =>
  world.start("timer", async (actor) => {
    const approvalId = await pendingApproval(world, actor);
    await expireApproval(world.outside(actor), key, approvalId, never());
    world.rules.promised.push((head) =>
      approvalOf(head, approvalId)?.state === ApprovalState.PENDING
        ? "an expired approval is pending"
        : undefined,
    );
  });

/** Resolves when the run has a pending approval. */
async function pendingApproval(world: ProtocolWorld, actor: Actor): Promise<string> {
  const pending = () => pendingApprovals(world.rules.head)[0]?.approvalId;
  return await world.scheduler.act({
    actor,
    label: "sees an approval",
    kind: "look",
    isPossible: () => pending() !== undefined,
    happen: async () => pending() ?? "",
    outcomeOf: () => "",
  });
}

function writing(
  name: string,
  decide: (head: RunHead) => readonly ExternalFact[],
  isTime: (head: RunHead) => boolean = () => true,
): Other {
  return (world) =>
    world.start(name, async (actor) => {
      await world.scheduler.act({
        actor,
        label: "sees the run",
        kind: "look",
        isPossible: () => isTime(world.rules.head),
        happen: async () => undefined,
        outcomeOf: () => "",
      });
      await appendExternal(world.outside(actor), key, decide, never());
    });
}

const two = { workers: 2, toolhosts: 2 } as const;
/** A worker and two toolhosts, of which the second holds the run's files. */
const routed = { workers: 1, toolhosts: 2, routed: "knowing" } as const;

/** Two workers, each with a toolhost in its process. */
const together = { workers: 2, toolhosts: 0, isOneProcess: true } as const;

/** A person approves, and another one rejects. */
export const decidedTwice = parked({}, deciding("ann", true), deciding("bob", false));
/** A pending approval expires. */
export const expired = parked({}, expiring);
/** A call that lasts until the run is cancelled. */
export const endless = fresh({ workers: 1, tool: "endless" }, cancellingUntilConfirmed);

/** A call that lasts until the run is cancelled, by a client that does not ask again. */
export const cancelledOnce = fresh({ workers: 1, tool: "endless" }, cancellingOnce);
/** A call whose toolhost was cut off from the others when it had started. */
function cutOff(tool: "plain" | "idempotent"): Scenario {
  return async (breakage) => {
    const world = await fresh({ workers: 1, toolhosts: 2, tool, isSlow: true })(breakage);
    await world.advanceUntil(() => world.journal.name.includes("started"));
    world.cutOff("toolhost 1");
    return world;
  };
}

/** An idempotent call that took down two toolhosts. */
export const takingDown: Scenario = async (breakage) => {
  const play = { workers: 1, toolhosts: 1, tool: "idempotent", isSlow: true } as const;
  const world = await new ProtocolWorld(play, breakage).create();
  return (await startedBefore(world, ["gone 1", "gone 2"])).begin();
};

/** Scenarios that are small enough to explore completely. */
export const smallScenarios: readonly [
  readonly [string, Scenario],
  ...(readonly [string, Scenario])[],
] = [
  ["two workers", fresh({})],
  ["two workers and a sweeper", fresh({}, sweeping)],
  ["a start that is repeated much later", fresh({}, repeating)],
  ["a message from outside", fresh({}, messaging())],
  ["a decision around the time of the park", fresh({ tool: "approved" }, approving())],
  ["a decision after the park, and a sweeper", parked({}, approving(), sweeping)],
  ["a call and two toolhosts", fresh({ ...two, tool: "plain", isSlow: true })],
  ["an idempotent call", fresh({ ...two, tool: "idempotent", isSlow: true })],
  ["a call in one process", fresh({ ...together, tool: "plain", isSlow: true })],
  ["two decisions after the park", decidedTwice],
  ["an expiry after the park", expired],
];

/** Larger scenarios that can be explored completely within seconds. */
export const longScenarios: readonly (readonly [string, Scenario])[] = [
  ["a call for another toolhost", fresh({ ...routed, tool: "plain" })],
];

/** Calls whose first toolhost was cut off. */
export const cutOffScenarios = [
  ["a call", cutOff("plain")],
  ["an idempotent call", cutOff("idempotent")],
] as const;

/** Scenarios with too many worlds to explore completely. */
export const wideScenarios: readonly (readonly [string, Scenario])[] = [
  [
    "two decisions, a message, and a sweeper",
    fresh(
      { ...two, tool: "approved", isSlow: true },
      approving(),
      approving("another person"),
      messaging(),
      sweeping,
    ),
  ],
  [
    "a message and a cancellation while a run waits",
    parked({ ...two, isSlow: true }, approving(), messaging(), cancelling, sweeping),
  ],
  [
    "a call and a cancellation",
    fresh({ ...two, tool: "plain", isSlow: true }, cancelling, sweeping),
  ],
  [
    "a call that only its cancellation ends",
    fresh({ ...two, tool: "endless", isSlow: true }, cancellingUntilConfirmed, sweeping),
  ],
  [
    "two decisions and an expiry around the time of the park",
    fresh(
      { ...two, tool: "approved", isSlow: true },
      deciding("ann", true),
      deciding("bob", false),
      expiring,
      sweeping,
    ),
  ],
  ["a call and a message", fresh({ ...two, tool: "plain", isSlow: true }, messaging(), repeating)],
  ["an idempotent call", fresh({ ...two, tool: "idempotent", isSlow: true }, sweeping)],
  [
    "a call in one process, and a cancellation",
    fresh({ ...together, tool: "plain", isSlow: true }, cancelling, sweeping),
  ],
  [
    "an idempotent call in one process",
    fresh({ ...together, tool: "idempotent", isSlow: true }, sweeping),
  ],
  [
    "a call for another of three toolhosts that is requested again",
    fresh({ ...routed, toolhosts: 3, tool: "plain", isSlow: true }, askingAgain),
  ],
  [
    "an idempotent call that is adopted from a toolhost that is alive",
    fresh(
      { ...routed, toolhosts: 3, tool: "idempotent", routed: "mistaken", isSlow: true },
      askingAgain,
      cancelling,
    ),
  ],
];
