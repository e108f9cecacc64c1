import { create } from "@bufbuild/protobuf";
import { ToolCallFactSchema, ToolCallRequestSchema, ToolResultSchema } from "@reeve/contracts/tool";
import { memoryCallJournal } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { republishLostRequest } from "./republish-lost-request.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1", call: "run_1-1-0" };

/** Checks a call that was started by the request at a sequence, none of whose requests is in the queue, until it ends with the third request. */
async function checked(requestSequence: bigint) {
  const journal = memoryCallJournal();
  const write = async (fact: Parameters<typeof create<typeof ToolCallFactSchema>>[1]) => {
    const { tail } = await journal.read(key, emptyTail, never);
    await journal.append(key, tail, [create(ToolCallFactSchema, fact)], never);
  };
  await write({ fact: { case: "started", value: { host: "elsewhere", requestSequence } } });
  const dedupeIds: string[] = [];
  const queue = {
    holds: () => Promise.resolve(false),
    publish: async (_: unknown, { dedupeId }: { readonly dedupeId: string }) => {
      if (dedupeIds.push(dedupeId) === 3) {
        const value = create(ToolResultSchema, { callId: key.call });
        await write({ fact: { case: "result", value } });
      }
      return -dedupeIds.length;
    },
  };
  const logger = createLogger("test", "silent");
  let warnings = 0;
  logger.warn = () => void warnings++;
  const ports = { journal, clock: new HastyClock(), logger };
  const request = create(ToolCallRequestSchema, { runId: key.run });
  await republishLostRequest({ key, request, queue, sequence: undefined }, ports, never);
  return { dedupeIds, warnings };
}

test("a request that is gone is published again with a warning until its call has ended", async () => {
  const { dedupeIds, warnings } = await checked(7n);
  expect(new Set(dedupeIds).size).toBe(3);
  expect(warnings).toBe(3);
});

test("a call that was handed over in another process is asked about without a warning", async () => {
  const { dedupeIds, warnings } = await checked(0n);
  expect(new Set(dedupeIds).size).toBe(3);
  expect(warnings).toBe(0);
});
