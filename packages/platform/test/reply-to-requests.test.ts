import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, expect, test } from "vitest";
import { connectNats } from "../src/nats/connect-nats.ts";
import { startNatsServer } from "../src/nats/nats-server.ts";
import { replyToRequests } from "../src/nats/reply-to-requests.ts";
import { createLogger } from "../src/telemetry/logger.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const folder = mkdtempSync(join(tmpdir(), "reeve-replies-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const subject = "questions";
const configFile = join(folder, "users.conf");

/** Writes the users of the server: one that asks, and one that may answer or not. */
function writeUsers({ mayAnswer }: { readonly mayAnswer: boolean }): void {
  const permissions = { subscribe: { deny: mayAnswer ? [] : [subject] } };
  const users = [
    { user: "asking", password: "asking" },
    { user: "answering", password: "answering", permissions },
  ];
  // NATS reads JSON.
  writeFileSync(configFile, JSON.stringify({ authorization: { users } }));
}

test("a process that may subscribe only after its start answers without a restart", async () => {
  writeUsers({ mayAnswer: false });
  const storeDir = join(folder, "store");
  await using server = await startNatsServer({ storeDir, configFile, log }, never);
  const connect = (user: string) =>
    connectNats(server.url, { name: user, user, pass: user, log }, never);
  await using answering = await connect("answering");
  await using asking = await connect("asking");
  const warnings: string[] = [];
  const reports = { warn: (_: object, message: string) => void warnings.push(message) };
  using _ = replyToRequests(
    answering.connection,
    { subject, log: reports as typeof log, retryMs: 50 },
    async () => Buffer.from("yes"),
  );
  await expect.poll(() => warnings.length, { timeout: 10_000 }).toBe(1);
  expect(warnings[0]).toContain("may not subscribe");
  writeUsers({ mayAnswer: true });
  process.kill(server.pid, "SIGHUP");
  const ask = async () => {
    const { connection } = asking;
    return await connection.request(subject, "?", { timeout: 1_000 }).then(
      (reply) => reply.string(),
      () => "no answer",
    );
  };
  await expect.poll(ask, { timeout: 20_000 }).toBe("yes");
});
