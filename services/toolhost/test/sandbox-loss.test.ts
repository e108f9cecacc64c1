import { globSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openCallRequests } from "./support/call-requests.ts";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { afterAll, describe, expect, test, vi } from "vitest";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { workspaceRoot } from "@reeve/sandbox/host/workspace-root";
import { testEngine } from "@reeve/sandbox/test/support/docker-engine";
import { newMark } from "@reeve/sandbox/test/support/new-mark";
import { processesWith } from "@reeve/sandbox/test/support/processes-with";
import { startToolhostProcess } from "./support/toolhost-process.ts";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { factsUntilEnd, keyOf, requestOf, resultOf } from "./support/toolhost.ts";

const log = createLogger("test", "silent");
const signal = new AbortController().signal;
const engine = await testEngine();
const missing = "why" in engine ? engine.why : "";
const resources = new AsyncDisposableStack();

afterAll(() => resources.disposeAsync());

/** Returns the control groups of the sandboxes of a toolhost. */
function groupsOf(pid: number): readonly string[] {
  return globSync(`/sys/fs/cgroup/{,memory/,pids/}reeve/${pid}.*`);
}

function mountsBelow(folder: string): readonly string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(folder));
}

/** Returns the containers of the sandboxes of a toolhost. */
async function containersOf(pid: number): Promise<readonly string[]> {
  if ("why" in engine) return [];
  const records = await engine.driver.list(signal);
  return records.map(({ sessionId }) => sessionId).filter((id) => id.includes(`-${pid}.`));
}

describe.each([
  ["bubblewrap", false, ""],
  ["docker", missing !== "", ` (skipped: ${missing})`],
])("with %s", (sandbox, isSkipped, why) => {
  test.skipIf(isSkipped)(
    `a toolhost that is killed in the middle of a call leaves no process, and the next one takes away the rest${isSkipped ? why : ""}`,
    async () => {
      const folder = resources.use(await temporaryFolder()).path;
      const storeDir = join(folder, "nats");
      const server = resources.use(await startNatsServer({ storeDir, log }, signal));
      const nats = resources.use(await connectNats(server.url, { name: "test", log }, signal));
      const journal = await openCallJournal(nats);
      const requests = await openCallRequests(nats);
      const settings = { natsUrl: server.url, folder, sandbox };
      const first = await startToolhostProcess(settings, resources);
      const { pid = 0 } = first;
      const mark = newMark();
      const script = `echo kept > file; (setsid sh -c 'trap "" TERM HUP; sleep ${mark}' &); echo ready; sleep ${mark}`;
      const command = ["sh", "-c", script];
      const network = ["example.org:443"];
      const call = requestOf({ name: "run_command", args: { command }, network });
      await requests.publish(call, signal);
      for await (const { events } of journal.follow(keyOf(call), 0, signal)) {
        if (events.some(({ fact }) => fact.case === "progress")) break;
      }
      await vi.waitFor(() => expect(processesWith(mark).length).toBeGreaterThanOrEqual(2), 20_000);
      first.kill("SIGKILL");
      await vi.waitFor(() => expect(processesWith(mark)).toEqual([]), 20_000);
      await startToolhostProcess(settings, resources);
      await vi.waitFor(() => expect(groupsOf(pid)).toEqual([]), 20_000);
      await vi.waitFor(async () => expect(await containersOf(pid)).toEqual([]), 20_000);
      await expect.poll(() => mountsBelow(folder)).toEqual([]);
      const read = requestOf({ name: "read_file", args: { path: "file" }, callId: "run_1-3-0" });
      await requests.publish(read, signal);
      const result = resultOf(await factsUntilEnd(journal, keyOf(read), signal));
      expect(result.content).toBe("kept\n");
      expect(result.metadata?.isolation).toBe(sandbox);
      const proxies = join(
        workspaceRoot(join(folder, "data"), sandboxIdentity(64_017)),
        ".network",
      );
      expect(await readdir(proxies)).toEqual([expect.stringContaining(`${pid}.`)]);
      const next = requestOf({
        name: "run_command",
        args: { command: ["printenv", "HTTPS_PROXY"] },
        callId: "run_1-4-0",
        network,
      });
      await requests.publish(next, signal);
      const { content } = resultOf(await factsUntilEnd(journal, keyOf(next), signal));
      expect(content).toContain("http://127.0.0.1:3128");
      expect(await readdir(proxies)).toEqual([expect.not.stringContaining(`${pid}.`)]);
    },
  );
});
