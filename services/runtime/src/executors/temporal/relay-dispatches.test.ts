import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { relayDispatches } from "./relay-dispatches.ts";

const never = new AbortController().signal;

test("a dispatch stays in the queue until Temporal has taken it, and is sent again until then", async () => {
  const queue = new MemoryWorkQueue<Dispatch>({ ackWaitMs: 60_000 });
  const message = create(DispatchSchema, { tenant: "acme", runId: "run_1", afterSequence: 4 });
  await queue.publish(message, { dedupeId: "a" }, never);
  const end = new AbortController();
  const sent: (readonly [string, object, number])[] = [];
  const lines: string[] = [];
  const log = createLogger("test", "warn", { write: (line) => void lines.push(line) });
  const relaying = relayDispatches(
    {
      queue,
      heartbeatMs: 1_000,
      redelivery: { firstDelayMs: 1, maxDelayMs: 1 },
      log,
      async send({ runId }, dispatch) {
        sent.push([runId, dispatch, queue.unacknowledged]);
        if (sent.length < 3) throw new Error("Temporal is away");
        setImmediate(() => end.abort());
      },
    },
    end.signal,
  );
  await expect(relaying).rejects.toThrow("aborted");
  const dispatch = { sequence: 1, afterSequence: 4, traceparent: "" };
  expect(sent).toEqual(Array.from({ length: 3 }, () => ["run_1", dispatch, 1]));
  expect(queue.unacknowledged).toBe(0);
  expect(lines.filter((line) => line.includes("they wait"))).toHaveLength(1);
});
