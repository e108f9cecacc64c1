import { create } from "@bufbuild/protobuf";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import { memoryCallJournal } from "@reeve/jetstream/log/memory";
import { describe, expect, test } from "vitest";
import {
  answers,
  append,
  deliveryOf,
  factsIn,
  kinds,
  never,
  noTools,
  portsWith,
  request,
  resultIn,
  toolOf,
} from "../../test/support/call-bench.ts";
import { maxWaits } from "../journal/claim-call.ts";
import { startedFact } from "../journal/journal-facts.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { Routing } from "../ports/routing.ts";
import type { CallDelivery } from "../ports/call-delivery.ts";
import { settleCall } from "./work-calls.ts";

interface Host {
  reaches: boolean;
  readonly busy: number;
  /** Whether it knows the tool at all. Default: true. */
  readonly knows?: boolean;
}

interface Queued {
  readonly sequence: number;
  readonly message: ToolCallRequest | ForwardedToolCall;
}

/** Hosts of one pool, all of which have announced the tool `echo`, and what their queues hold. */
function poolOf(hosts: Readonly<Record<string, Host>>) {
  const journal = memoryCallJournal();
  const queues = new Map<string, Queued[]>();
  const ids = new Map<string, number>();
  let executions = 0;
  let sequences = 100;
  const queueOf = (name: string) => {
    const queued = queues.get(name) ?? [];
    queues.set(name, queued);
    return queued;
  };
  const queue = (name: string) => ({
    publish: async (message: Queued["message"], { dedupeId }: { readonly dedupeId: string }) => {
      const known = ids.get(dedupeId);
      if (known !== undefined) return known;
      const sequence = ++sequences;
      ids.set(dedupeId, sequence);
      queueOf(name).push({ sequence, message });
      return sequence;
    },
    holds: async (sequence: number) => queueOf(name).some((each) => each.sequence === sequence),
  });
  const presences = Object.entries(hosts).map(([host, { busy }]) =>
    create(ToolhostPresenceSchema, { host, pool: "default", slots: 4, busy }),
  );
  const portsOf = (host: string): CallPorts => {
    const { knows = true } = hosts[host] ?? {};
    const counted = toolOf(async (...asked) => {
      if (hosts[host]?.reaches !== true) return { content: "echo is not connected", isError: true };
      executions++;
      return await answers.call(...asked);
    });
    const tool = { ...counted, isReachable: () => hosts[host]?.reaches === true };
    const ports = portsWith(tool, journal);
    const routing: Routing = {
      pool: "default",
      peers: {
        list: () => presences.filter((presence) => presence.host !== host),
        offers: (other) => hosts[other]?.knows !== false,
        listens: async () => true,
        isGone: async () => false,
      },
      holders: { holderOf: async () => undefined, hold: async (_, change) => change.host },
      calls: {
        to: (other) => queue(other),
        hosts: async () => [],
        open: () => Promise.reject(new Error("takes nothing")),
        backlog: async () => ({ waiting: 0, delivered: 0 }),
        remove: async () => undefined,
      },
      requests: queue("pool"),
    };
    return { ...ports, host, routing, toolbox: knows ? ports.toolbox : noTools };
  };
  /** Delivers the only message of a queue to a host, which settles it. Returns how. */
  const deliver = async (from: string, host: string, attempt = 1) => {
    const [queued, ...others] = queueOf(from);
    if (queued === undefined || others.length > 0) throw new Error(`${from} has not one message`);
    const { message, sequence } = queued;
    const call = message.$typeName === ToolCallRequestSchema.typeName ? message : message.request;
    if (call === undefined) throw new Error("a forwarded call without its request");
    const hops = message.$typeName === ToolCallRequestSchema.typeName ? {} : { hops: message.hops };
    const delivery = deliveryOf(call, sequence, attempt);
    await settleCall(Object.assign(delivery, hops) satisfies CallDelivery, portsOf(host), never);
    if (delivery.settled.includes("acknowledged")) queues.set(from, []);
    return delivery.settled;
  };
  queueOf("pool").push({ sequence: 7, message: request() });
  return {
    portsOf,
    deliver,
    /** The queues that hold the call. */
    places: () => [...queues].filter(([, held]) => held.length > 0).map(([name]) => name),
    executions: () => executions,
  };
}

/** All have lost the server of the tool but c, which is the busiest. */
const onlyBusiestReaches = () =>
  poolOf({
    a: { reaches: false, busy: 0 },
    b: { reaches: false, busy: 0 },
    c: { reaches: true, busy: 3 },
  });

// Requirement: HOST-1
describe("a forwarded call whose tool its host cannot call", () => {
  test("returns to its pool after a delay, where the host that reaches the tool takes it", async () => {
    const pool = onlyBusiestReaches();
    expect(await pool.deliver("pool", "a")).toEqual(["acknowledged"]);
    expect(pool.places()).toEqual(["b"]);
    expect(await pool.deliver("b", "b")).toEqual(["returned"]);
    expect(await pool.deliver("b", "b", 2)).toEqual(["acknowledged"]);
    expect(pool.places()).toEqual(["pool"]);
    await pool.deliver("pool", "c");
    expect(pool.places()).toEqual([]);
    expect(pool.executions()).toBe(1);
  });

  test("is executed by a host that lost the tool only while it forwarded the call", async () => {
    const hosts = { a: { reaches: false, busy: 0 }, b: { reaches: false, busy: 0 } };
    const pool = poolOf(hosts);
    await pool.deliver("pool", "a");
    hosts.a.reaches = true;
    await pool.deliver("b", "b");
    await pool.deliver("b", "b", 2);
    await pool.deliver("pool", "a");
    expect(pool.executions()).toBe(1);
    expect(kinds(await factsIn(pool.portsOf("a")))).toEqual(["started", "result"]);
  });

  test("is not forwarded again by a host that cannot reach the tool either", async () => {
    const pool = onlyBusiestReaches();
    await pool.deliver("pool", "a");
    await pool.deliver("b", "b");
    await pool.deliver("b", "b", 2);
    expect(await pool.deliver("pool", "a")).toEqual(["returned"]);
    expect(pool.places()).toEqual(["pool"]);
  });

  test("is forwarded again by a host that lacks the tool, and fails after as many waits in all", async () => {
    const hosts = {
      a: { reaches: false, busy: 0, knows: false },
      b: { reaches: false, busy: 0 },
    };
    const pool = poolOf(hosts);
    let waits = 0;
    while (pool.places().length > 0 && waits <= maxWaits) {
      if (pool.places()[0] === "pool") await pool.deliver("pool", "a");
      if ((await pool.deliver("b", "b")).includes("acknowledged")) break;
      waits++;
      await pool.deliver("b", "b", 2);
    }
    expect(waits).toBe(maxWaits);
    expect(resultIn(await factsIn(pool.portsOf("a")))).toMatchObject({ isError: true });
    expect(pool.executions()).toBe(0);
  });

  test("stays in the queue of its host once it has started", async () => {
    const pool = onlyBusiestReaches();
    await pool.deliver("pool", "a");
    await append(pool.portsOf("b"), startedFact("toolhost-gone", 7));
    await pool.deliver("b", "b", 2);
    expect(pool.places()).not.toContain("pool");
  });
});
