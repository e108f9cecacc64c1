import { once } from "node:events";
import { join } from "node:path";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { openCallJournal } from "@reeve/jetstream/log/open";
import type { CallRequests } from "./support/call-requests.ts";
import { openCallRequests } from "./support/call-requests.ts";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolhostProcess } from "./support/toolhost-process.ts";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { factsUntilEnd, keyOf, requestOf, resultOf } from "./support/toolhost.ts";

const log = createLogger("test", "silent");
const signal = new AbortController().signal;
const resources = new AsyncDisposableStack();
let journal: CallJournal;
let requests: CallRequests;
let natsUrl: string;
let folder: string;

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  const storeDir = join(folder, "nats");
  const server = resources.use(await startNatsServer({ storeDir, log }, signal));
  natsUrl = server.url;
  const nats = resources.use(await connectNats(natsUrl, { name: "test", log }, signal));
  journal = await openCallJournal(nats);
  requests = await openCallRequests(nats);
});

afterAll(() => resources.disposeAsync());

async function reaches(
  request: ToolCallRequest,
  kind: "started" | "progress" = "started",
): Promise<void> {
  await requests.publish(request, signal);
  for await (const { events } of journal.follow(keyOf(request), 0, signal)) {
    if (events.some(({ fact }) => fact.case === kind)) return;
  }
}

// The ack wait is longer than the test may take, so only the proof of death returns the calls to their queue.
test("a call whose host is killed has an unknown outcome, or is executed again if it is idempotent, before its ack wait ends", async () => {
  const settings = { REEVE_ACK_WAIT_MS: "600000" };
  const first = await startToolhostProcess({ natsUrl, folder, settings }, resources);
  const harmful = requestOf({
    name: "run_command",
    args: { command: ["sleep", "600"] },
    callId: "run_1-2-0",
  });
  // Ends only when it is executed again.
  const script = "if mkdir begun; then echo begun; sleep 600; fi";
  const harmless = requestOf({
    name: "run_command",
    args: { command: ["sh", "-c", script] },
    callId: "run_1-2-1",
    idempotent: true,
  });
  await reaches(harmful);
  await reaches(harmless, "progress");
  first.kill("SIGKILL");
  const second = await startToolhostProcess({ natsUrl, folder, settings }, resources);
  const unknown = resultOf(await factsUntilEnd(journal, keyOf(harmful), signal));
  expect(unknown.isError).toBe(true);
  expect(unknown.content).toContain("unknown");
  const again = await factsUntilEnd(journal, keyOf(harmless), signal);
  const kinds = again.map(({ fact }) => fact.case).filter((kind) => kind !== "progress");
  expect(kinds).toEqual(["started", "started", "result"]);
  expect(resultOf(again).isError).toBe(false);
  second.kill("SIGTERM");
  expect(await once(second, "exit")).toEqual([0, null]);
});

test("a toolhost that is terminated finishes its calls first", async () => {
  const host = await startToolhostProcess({ natsUrl, folder }, resources);
  const args = { command: ["sleep", "1"] };
  const request = requestOf({ name: "run_command", args, callId: "run_1-3-0" });
  await reaches(request);
  host.kill("SIGTERM");
  const ended = once(host, "exit");
  const result = resultOf(await factsUntilEnd(journal, keyOf(request), signal));
  expect(result).toMatchObject({ isError: false });
  expect(await ended).toEqual([0, null]);
});
