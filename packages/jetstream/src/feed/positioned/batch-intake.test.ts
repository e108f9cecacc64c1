import type { JsMsg } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { batchHeaders } from "../../log/stored-batch.ts";
import { keysUnavailable } from "../../sealing/key-failures.ts";
import { BatchIntake } from "./batch-intake.ts";
import { ReadProgress } from "./progress.ts";

const { signal } = new AbortController();
const subject = "run.acme.r.log";

function described() {
  const described = headers();
  described.set(batchHeaders.kinds, "runCreated");
  return described;
}

const storedAt = (sequence: number) => ({
  sequence,
  subject,
  storedAt: "",
  headers: described(),
  data: new Uint8Array(),
});

test("a tenant stays behind while the leader of its stream is behind, too", async () => {
  const leader = { last: 2 };
  let isLocked = true;
  const delays = { firstDelayMs: 1, maxDelayMs: 1 };
  const progress = new ReadProgress({ sequence: 0, behind: new Map(), aside: [] }, delays);
  const intake = new BatchIntake<string, never>(
    {
      messages: {
        assigned: async (sequence) => storedAt(sequence),
        latest: async (query) =>
          "seq" in query && query.seq <= leader.last ? storedAt(query.seq) : undefined,
        lastSequence: async () => leader.last,
      },
      opener: {
        tenantOf: () => "acme",
        open: async () => {
          if (isLocked) throw keysUnavailable("acme");
          return { key: "r", events: [] };
        },
      },
      filterOf: () => "run.acme.*.log",
      kinds: new Set(["runCreated"]),
    },
    progress,
  );
  for (const seq of [1, 2]) {
    const message: Pick<JsMsg, "seq" | "subject" | "data" | "headers"> = {
      seq,
      subject,
      data: new Uint8Array(),
      headers: described(),
    };
    // oxlint-disable-next-line no-unsafe-type-assertion -- reads nothing else of a message
    expect(await intake.take(message as JsMsg, signal)).toBeUndefined();
  }
  isLocked = false;
  const retry = { kind: "tenant", tenant: "acme", after: 0, passed: 2 } as const;
  leader.last = 0;
  await expect(intake.retry(retry, signal)).rejects.toMatchObject({ kind: "unavailable" });
  expect(progress.isBehind("acme")).toBe(true);
  leader.last = 2;
  expect(await intake.retry(retry, signal)).toMatchObject({ key: "r" });
});
