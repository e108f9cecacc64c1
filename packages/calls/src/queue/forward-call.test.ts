import { create } from "@bufbuild/protobuf";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import { describe, expect, test } from "vitest";
import {
  answers,
  append,
  deliveryOf,
  factsIn,
  key,
  kinds,
  never,
  noTools,
  portsWith,
  request,
  toolOf,
  whoseStateIs,
} from "../../test/support/call-bench.ts";
import { startedFact } from "../journal/journal-facts.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { Routing } from "../ports/routing.ts";
import { forwardCall, returnCall } from "./forward-call.ts";
import { settleCall } from "./work-calls.ts";

const peer = "toolhost-b";

/** A toolhost whose peer has the only tool. Its queues keep what is published, unless they lose everything. */
function forwarding({ loses = false } = {}) {
  const delivery = deliveryOf(request());
  /** For each publication, how the delivery was settled before. */
  const settledBefore: (readonly string[])[] = [];
  const queue = {
    publish: async () => {
      settledBefore.push([...delivery.settled]);
      return settledBefore.length;
    },
    holds: async () => !loses,
  };
  const routing: Routing = {
    pool: "default",
    peers: {
      list: () => [create(ToolhostPresenceSchema, { host: peer, pool: "default", slots: 4 })],
      offers: (host) => host === peer,
      listens: async () => true,
      isGone: async () => false,
    },
    holders: { holderOf: async () => undefined, hold: async (_, { host }) => host },
    calls: {
      to: () => queue,
      hosts: async () => [peer],
      open: () => Promise.reject(new Error("takes nothing")),
      backlog: async () => ({ waiting: 0, delivered: 0 }),
      remove: async () => undefined,
    },
    requests: queue,
  };
  const ports: CallPorts & { readonly routing: Routing } = {
    ...portsWith(answers),
    toolbox: noTools,
    routing,
  };
  return { delivery, ports, settledBefore };
}

const ways: readonly [string, (given: ReturnType<typeof forwarding>) => Promise<boolean>][] = [
  ["is forwarded", ({ delivery, ports }) => forwardCall(delivery, key, ports, never)],
  [
    "returns to its pool",
    ({ delivery, ports: { journal, routing } }) =>
      returnCall(delivery, key, { journal, requests: routing.requests }, never),
  ],
];

// Requirement: HOST-1
describe.each(ways)("a call that %s", (_, move) => {
  test("is acknowledged only when the other queue has it", async () => {
    const given = forwarding();
    expect(await move(given)).toBe(true);
    expect(given.settledBefore).toEqual([[]]);
    expect(given.delivery.settled).toEqual(["acknowledged"]);
  });

  test("stays in its queue when the other one loses it", async () => {
    const given = forwarding({ loses: true });
    expect(await move(given)).toBe(true);
    expect(given.delivery.settled).toEqual(["returned"]);
  });

  // The queue knows its ids for two minutes, so a second attempt repeats them, and later ones are new messages.
  test("is executed once, however many of its messages arrive after they seemed lost", async () => {
    const given = forwarding({ loses: true });
    for (let attempt = 0; attempt < 2; attempt++) expect(await move(given)).toBe(true);
    const arriving = given.settledBefore.map((_, index) => deliveryOf(request(), 101 + index));
    expect(arriving.length).toBeGreaterThan(2);
    let executions = 0;
    const counted = toolOf(async (...asked) => {
      executions++;
      return await answers.call(...asked);
    });
    const peerPorts: CallPorts = {
      ...portsWith(counted, given.ports.journal),
      requests: { holds: async () => false },
      executions: whoseStateIs("running"),
    };
    const all = [...arriving, deliveryOf(request())];
    await Promise.all(all.map((delivery) => settleCall(delivery, peerPorts, never)));
    expect(executions).toBe(1);
    expect(kinds(await factsIn(peerPorts))).toEqual(["started", "result"]);
  });

  test("stays where it is once it has started", async () => {
    const given = forwarding();
    await append(given.ports, startedFact("toolhost-a", 7));
    expect(await move(given)).toBe(false);
    expect(given.settledBefore).toEqual([]);
    expect(given.delivery.settled).toEqual([]);
  });
});
