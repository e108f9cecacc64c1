import { create } from "@bufbuild/protobuf";
import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import {
  ToolCallFactSchema,
  ToolCallRequestSchema,
  ToolDescriptorSchema,
} from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryCallJournal } from "@reeve/jetstream/log/memory";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Delivery } from "@reeve/jetstream/queue/port";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { steadyClock, systemClock } from "@reeve/platform/async/clock";
import { expect } from "vitest";
import type { ExecutionState } from "../../src/ports/executions.ts";
import type { Tool, Toolbox } from "../../src/ports/tool.ts";
import type { CallPorts } from "../../src/ports/call-ports.ts";

export const never = new AbortController().signal;
/** The journal of the only call. */
export const key = { tenant: "acme", run: "run_1", call: "run_1-2-0" };

/** Returns the tool `echo`, which takes a number `n`. */
export function toolOf(call: Tool["call"]): Tool {
  const descriptor = create(ToolDescriptorSchema, {
    name: "echo",
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
  });
  return { descriptor, call };
}

/** Returns its argument at once. */
export const answers: Tool = toolOf(async ({ args }) => ({
  content: `echo ${JSON.stringify(args["n"] ?? null)}`,
  isError: false,
}));

/** Returns a tool that ends only when its signal aborts. `begun` resolves when it has started. */
export function patientTool() {
  const begun = Promise.withResolvers<void>();
  const tool = toolOf(async (_, signal) => {
    const ended = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => ended.reject(signal.reason as Error));
    begun.resolve();
    return await ended.promise;
  });
  return { tool, begun: begun.promise };
}

/** Returns the ports of a toolhost in memory whose only tool is `tool`. */
export function portsWith(tool: Tool, journal: CallJournal = memoryCallJournal()): CallPorts {
  return {
    journal,
    isRunOver: async () => false,
    requests: { holds: async () => true },
    executions: whoseStateIs("lost"),
    toolbox: {
      list: () => [tool],
      find: (name) => (name === "echo" ? tool : undefined),
    },
    workspaces: { open: () => Promise.reject(new Error("no workspace here")) },
    artifacts: new MemoryArtifactStore({ maxBytes: 1_000_000 }),
    storeTimeoutMs: 10_000,
    host: "toolhost-a",
    heartbeatMs: 50,
    clock: steadyClock,
    wallClock: systemClock,
    log: createLogger("test", "silent"),
  };
}

/** Executions of which every host says the same. */
export function whoseStateIs(state: ExecutionState): CallPorts["executions"] {
  return { stateOf: async () => state };
}

/** Returns a journal in memory whose appends fail as long as `isAway` returns true. */
export function journalAway(isAway: (facts: readonly ToolCallFact[]) => boolean): CallJournal {
  const journal = memoryCallJournal();
  return {
    append: async (...given) => {
      if (isAway(given[2])) throw unavailable();
      return await journal.append(...given);
    },
    read: (...given) => journal.read(...given),
    follow: (...given) => journal.follow(...given),
  };
}

export function unavailable(): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, "the journal is unavailable");
}

/** Returns a journal in memory whose `follow` fails the first `times`. `broken` resolves after the last failure. */
export function breakingJournal(times: number): CallJournal & { readonly broken: Promise<void> } {
  const journal = memoryCallJournal();
  const broken = Promise.withResolvers<void>();
  let left = times;
  return {
    append: (...given) => journal.append(...given),
    read: (...given) => journal.read(...given),
    follow: (...given) => {
      if (left === 0) return journal.follow(...given);
      if (--left === 0) broken.resolve();
      throw unavailable();
    },
    broken: broken.promise,
  };
}

/** Returns the request of the only call. Default tool: `echo`. */
export function request(
  options: { idempotent?: boolean; name?: string; args?: { n?: number | string } } = {},
): ToolCallRequest {
  const { idempotent = false, name = "echo", args = {} } = options;
  return create(ToolCallRequestSchema, {
    tenant: key.tenant,
    runId: key.run,
    call: { callId: key.call, name, arguments: args },
    idempotent,
  });
}

interface RecordedDelivery extends Delivery<ToolCallRequest> {
  /** How it was settled. */
  readonly settled: readonly string[];
}

/** A host that has no tools. */
export const noTools: Toolbox = { list: () => [], find: () => undefined };

/** Returns a delivery of a request, at a sequence of the queue. */
export function deliveryOf(message: ToolCallRequest, sequence = 7, attempt = 1): RecordedDelivery {
  const settled: string[] = [];
  return {
    message,
    sequence,
    attempt,
    settled,
    extend: () => undefined,
    acknowledge: () => void settled.push("acknowledged"),
    returnToQueue: () => void settled.push("returned"),
    abandon: () => void settled.push("forgotten"),
  };
}

/** Returns the facts of the only call. */
export async function factsIn({ journal }: CallPorts): Promise<readonly ToolCallFact[]> {
  return (await journal.read(key, emptyTail, never)).events;
}

/** Appends facts to the journal, as another party would. */
export async function append({ journal }: CallPorts, ...facts: readonly ToolCallFact[]) {
  const { tail } = await journal.read(key, emptyTail, never);
  expect(await journal.append(key, tail, facts, never)).toMatchObject({ kind: "appended" });
}

export function cancelled(): ToolCallFact {
  return create(ToolCallFactSchema, { fact: { case: "cancelled", value: { reason: "enough" } } });
}

export function kinds(facts: readonly ToolCallFact[]) {
  return facts.map(({ fact }) => fact.case);
}

/** Returns the result that ends the facts. */
export function resultIn(facts: readonly ToolCallFact[]) {
  const fact = facts.at(-1)?.fact;
  if (fact?.case !== "result") throw new Error("the last fact is not a result");
  return fact.value;
}
