import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import type { Run, RunEvent, StoredRunBatch } from "@reeve/contracts/run";
import { RunEventSchema, StoredRunBatchSchema } from "@reeve/contracts/run";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRuns } from "./support/small-server.ts";

const never = new AbortController().signal;
const history = join(import.meta.dirname, "../../test/histories/0.1.0-tools.json");

/** A run that has ended, stored in two batches. */
async function storedRun() {
  const json = JSON.parse(readFileSync(history, "utf8")) as readonly JsonValue[];
  const events: readonly RunEvent[] = json.map((event) => fromJson(RunEventSchema, event));
  const [first] = events;
  const tenant = first?.event.case === "runCreated" ? first.event.value.tenant : "";
  const key = { tenant, run: first?.runId ?? "" };
  const log = memoryRunLog();
  const appended = await log.append(key, emptyTail, events.slice(0, 4), never);
  if (appended.kind === "appended") await log.append(key, appended.tail, events.slice(4), never);
  const batches: StoredRunBatch[] = [];
  for await (const { revision, first: firstSequence, last, data, ...rest } of log.readBatches(
    key,
    never,
  )) {
    batches.push(
      create(StoredRunBatchSchema, {
        revision: BigInt(revision),
        firstSequence,
        lastSequence: last,
        kinds: [...rest.kinds],
        digest: rest.digest,
        payload: data,
      }),
    );
  }
  const run = runOf(foldHead(emptyHead, events));
  return { runId: key.run, subject: `run.${key.tenant}.${key.run}.log`, batches, run };
}

async function verify(
  { runId, subject, run }: { readonly runId: string; readonly subject: string; readonly run: Run },
  batches: readonly StoredRunBatch[],
  ...options: readonly string[]
) {
  const methods = {
    getRun: () => ({ run }),
    async *exportRunLog() {
      yield { subject, batches: batches.slice(0, 1), indexedRun: run };
      yield { subject, batches: batches.slice(1) };
    },
  };
  await using server = await serveRuns(methods, 0, never);
  const terminal = new MemoryTerminal();
  const code = await runCli(["--url", server.url, "--token", "t", "verify", runId, ...options], {
    terminal,
    environment: {},
    signal: never,
  });
  return { code, text: terminal.stdout, notes: terminal.stderr };
}

test("accepts the log of a run, and prints the digest of its head, which a later verification expects", async () => {
  const log = await storedRun();
  const { code, text } = await verify(log, log.batches);
  expect({ code, text }).toMatchObject({ code: 0 });
  const digest = log.batches.at(-1)?.digest ?? "";
  expect(text).toContain("in 2 batches, completed\nchain:  from sequence 1 to");
  expect(text).toContain(`head:   ${digest}\nverified`);
  expect(await verify(log, log.batches, "--expect", digest)).toMatchObject({ code: 0 });
  expect(await verify(log, log.batches, "--expect", "0".repeat(64))).toMatchObject({ code: 5 });
  expect(await verify(log, log.batches, "--expect", "x")).toMatchObject({ code: 2 });
});

test("refuses an altered log with its own exit code, and names the batch", async () => {
  const log = await storedRun();
  const [first, second] = log.batches;
  if (first === undefined || second === undefined) throw new Error("the log has two batches");
  const payload = second.payload.with(40, (second.payload[40] ?? 0) ^ 1);
  const { code, text } = await verify(log, [first, { ...second, payload }], "--json");
  expect(code).toBe(5);
  const { problems } = JSON.parse(text) as { readonly problems: readonly unknown[] };
  expect(problems[0]).toMatchObject({ kind: "altered_batch", sequence: 5 });
  expect((await verify(log, [first])).text).toContain("its end was lost or removed");
});
