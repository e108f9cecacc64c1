import { jetstreamManager } from "@nats-io/jetstream";
import { findProgram } from "@reeve/platform/nats/nats-server";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { natsVersion } from "../../../test/support/nats-program.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import { keepsFullAccounts } from "../src/streams/account/full-account-support.ts";
import { startSmallNats } from "./small-nats.ts";
import { appendEvents, freshRun, texts } from "./support/facts.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const version = natsVersion(findProgram("nats-server"));
const isKept = keepsFullAccounts(version);
const maxBytes = 4 * 1024 * 1024;
const large = "x".repeat(256 * 1024);

async function open(url: string): Promise<Nats> {
  return await connectNats(url, { name: "test", log }, never);
}

// Requirement: DUR-4
test.runIf(isKept)("a log that no longer fits into its account keeps its tail", async () => {
  await using server = await startSmallNats(maxBytes, "account");
  await using nats = await open(server.url);
  const runs = await openRunLog(nats);
  const key = freshRun();
  let tail = emptyTail;
  const fill = async () => {
    for (;;) tail = await appendEvents(runs, key, tail, texts(tail, large), never);
  };
  await expect(fill()).rejects.toMatchObject({ kind: "exhausted" });
  expect(tail.sequence).toBeGreaterThan(0);
  expect((await runs.last(key, never)).tail).toEqual(tail);
});

// Requirement: DUR-4
test.skipIf(isKept)(
  `a limit of the account is refused on version ${version}, and one of the server is not`,
  async () => {
    await using refused = await startSmallNats(maxBytes, "account");
    await using nats = await open(refused.url);
    await expect(openRunLog(nats)).rejects.toMatchObject({
      kind: "precondition",
      message: expect.stringContaining("corrupts logs when an account is full") as string,
    });
    await using accepted = await startSmallNats(maxBytes);
    await using other = await open(accepted.url);
    await openRunLog(other);
  },
);

// If this fails, the version need not be refused.
test.skipIf(isKept)(
  `version ${version} no longer finds the messages of a subject after it has refused one for a full account`,
  async () => {
    await using server = await startSmallNats(maxBytes, "account");
    await using nats = await open(server.url);
    const { streams } = await jetstreamManager(nats.connection);
    await streams.add({ name: "LOGS", subjects: ["log.*"] });
    const requests = requestClientOf(nats.connection);
    const publish = async (data: string) => {
      const reply = await requests.send("log.one", { data: new TextEncoder().encode(data) });
      return reply?.json<{ readonly error?: unknown }>().error;
    };
    for (const data of ["a", "b", "c"]) expect(await publish(data)).toBeUndefined();
    const last = () => streams.getMessage("LOGS", { last_by_subj: "log.one" });
    expect(await last()).toMatchObject({ seq: 3 });
    let refusal: unknown;
    while (refusal === undefined) refusal = await publish(large);
    expect(await last()).toBeNull();
  },
);
