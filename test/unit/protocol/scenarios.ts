import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { cancelRun } from "@reeve/log/cancel-run";
import type { ForeignFact } from "@reeve/log/commit-foreign";
import { commitForeign } from "@reeve/log/commit-foreign";
import type { RunHead } from "@reeve/log/run-head";
import { isTerminal, messageOf, pendingApprovals } from "@reeve/log/run-head";
import type { Breakage, Play } from "./protocol-world.ts";
import { key, never, ProtocolWorld } from "./protocol-world.ts";

/** Makes the same world each time. */
export type Scenario = (breakage?: Breakage) => Promise<ProtocolWorld>;

/** A run that was dispatched, and workers who wait for work. */
export function fresh(play: Play, ...others: readonly Other[]): Scenario {
  return async (breakage) => {
    const world = (await new ProtocolWorld(play, breakage).create()).begin();
    for (const other of others) other(world);
    return world;
  };
}

/** A run that waits for an approval, and whose worker has let go of it. */
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

/** Somebody who does something beside the workers. */
type Other = (world: ProtocolWorld) => void;

/** A gateway looks after the run, once, at any time. */
export const sweeping: Other = (world) => world.start("sweeper", (actor) => world.sweep(actor));

/** A person approves, as soon as there is something to approve. */
export function approving(name = "person"): Other {
  return writing(
    name,
    ({ approvals }) =>
      [...approvals.values()]
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

/** A message is sent into the run. */
export function messaging(name = "sender"): Other {
  const value = { messageId: name, message: { text: "and this" } };
  return writing(name, (head) =>
    isTerminal(head.status) || messageOf(head, name) !== undefined
      ? []
      : [{ case: "messageSubmitted", value }],
  );
}

/** Somebody cancels the run. */
export const cancelling: Other = (world) =>
  world.start("canceller", async (actor) => {
    const ports = { log: world.log.of(actor), dispatch: world.dispatch.of(actor) };
    await cancelRun(ports, key, { requestedBy: "ann", reason: "enough" }, never);
    world.rules.promised.push(({ status }) =>
      isTerminal(status) ? undefined : "a cancelled run goes on",
    );
  });

function writing(
  name: string,
  decide: (head: RunHead) => readonly ForeignFact[],
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
        tell: () => "",
      });
      const ports = { log: world.log.of(actor), dispatch: world.dispatch.of(actor) };
      await commitForeign(ports, key, decide, never);
    });
}
