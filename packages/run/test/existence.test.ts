import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { RunEventSchema } from "@reeve/contracts/run";
import {
  RunLiveness,
  RunLivenessQuestionSchema,
  RunLivenessReplySchema,
} from "@reeve/contracts/toolhost";
import { memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { sendRequest } from "@reeve/platform/nats/send-request";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answerExistence } from "../src/existence/answer-existence.ts";
import { askedExistence } from "../src/existence/asked-existence.ts";
import { confirmedEnds } from "../src/existence/confirmed-ends.ts";
import { answerLiveness } from "../src/liveness/answer-liveness.ts";
import { askedLiveness } from "../src/liveness/asked-liveness.ts";
import { logLiveness } from "../src/liveness/liveness.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1" };

let resources: AsyncDisposableStack;
let gateway: Nats;
let toolhost: Nats;

/** Starts a server of NATS, and a runtime that answers from logs of several servers, in which it finds no run. */
beforeEach(async () => {
  resources = new AsyncDisposableStack();
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-existence-"));
  resources.defer(() => rmSync(storeDir, { recursive: true, force: true }));
  const { url } = resources.use(await startNatsServer({ storeDir, log }, never));
  const connected = async (name: string) =>
    resources.use(await connectNats(url, { name, log }, never));
  gateway = await connected("gateway");
  toolhost = await connected("toolhost");
  const runtime = await connected("runtime");
  const raw = memoryRunLog();
  const runs = { isReplicated: true, last: raw.last.bind(raw) };
  const ends = confirmedEnds(runs, askedExistence(runtime, { maxRetryMs: 0 }));
  const liveness = logLiveness({ runs: ends, threads: memoryThreadLog() });
  resources.use(answerLiveness(runtime, liveness, log, never));
  await runtime.connection.flush();
});

afterEach(() => resources.disposeAsync());

/** Starts a gateway whose logs have the given runs. */
async function startGateway(...runIds: readonly string[]) {
  const runs = memoryRunLog();
  for (const run of runIds) {
    const event = create(RunEventSchema, { sequence: 1 });
    await runs.append({ ...key, run }, emptyTail, [event], never);
  }
  resources.use(answerExistence(gateway, runs, log, never));
  await gateway.connection.flush();
}

/** What the runtime says to one question, of one toolhost. */
async function statement(): Promise<RunLiveness | undefined> {
  const question = create(RunLivenessQuestionSchema, {
    tenant: key.tenant,
    subject: { case: "runId", value: key.run },
  });
  const data = toBinary(RunLivenessQuestionSchema, question);
  const subject = channelOf(RunLivenessQuestionSchema).subject({});
  const outcome = await sendRequest(
    toolhost.connection,
    subject,
    { data, timeoutMs: 60_000 },
    never,
  );
  return outcome.kind === "reply"
    ? fromBinary(RunLivenessReplySchema, outcome.data).run
    : undefined;
}

test("a run that a runtime does not find is missing only when a gateway says so", async () => {
  await startGateway();
  expect(await askedLiveness(toolhost).ofRun(key.tenant, key.run, never)).toBe(RunLiveness.MISSING);
});

test("a runtime states nothing of a run that it does not find, and a gateway does", async () => {
  await startGateway(key.run);
  expect(await statement()).toBe(RunLiveness.UNSPECIFIED);
});

test("a runtime states nothing of a run that it does not find while no gateway answers", async () => {
  expect(await statement()).toBe(RunLiveness.UNSPECIFIED);
  const failed = new Failure("unavailable", ErrorReason.UNAVAILABLE, "no majority");
  const runs = { last: () => Promise.reject(failed) };
  resources.use(answerExistence(gateway, runs, log, never));
  await gateway.connection.flush();
  expect(await statement()).toBe(RunLiveness.UNSPECIFIED);
});

test("a toolhost that asks before a gateway answers learns what the gateway says then", async () => {
  const state = askedLiveness(toolhost).ofRun(key.tenant, key.run, never);
  expect(await statement()).toBe(RunLiveness.UNSPECIFIED);
  await startGateway();
  expect(await state).toBe(RunLiveness.MISSING);
});

test("a gateway says which runs exist, of each tenant", async () => {
  await startGateway(key.run);
  const exists = askedExistence(toolhost);
  expect(await exists(key, never)).toBe(true);
  expect(await exists({ ...key, tenant: "other" }, never)).toBe(false);
});
