import { once } from "node:events";
import { join } from "node:path";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openCallRequests } from "./support/call-requests.ts";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { RecordedCluster } from "@reeve/sandbox/test/support/kubernetes/recorded-cluster";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import { startToolhostProcess } from "./support/toolhost-process.ts";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { factsUntilEnd, keyOf, requestOf, resultOf } from "./support/toolhost.ts";

const log = createLogger("test", "silent");
const signal = new AbortController().signal;

describe.skipIf(skipReason !== "")(`a toolhost with pods for sandboxes${skipReason}`, () => {
  const resources = new AsyncDisposableStack();
  let cluster: RecordedCluster;
  let natsUrl: string;
  let folder: string;

  beforeAll(async () => {
    folder = resources.use(await temporaryFolder()).path;
    cluster = resources.use(await RecordedCluster.start());
    const storeDir = join(folder, "nats");
    natsUrl = resources.use(await startNatsServer({ storeDir, log }, signal)).url;
  });
  afterAll(() => resources.disposeAsync());

  // Requirement: OPS-9
  test(
    "executes the calls of a run in one pod, which ends when the toolhost is killed",
    { timeout: 60_000 },
    async () => {
      const settings = {
        KUBECONFIG: cluster.kubeconfig,
        REEVE_SANDBOX_IMAGE: "reeve-sandbox:0.1.0",
      };
      const options = { natsUrl, folder, sandbox: "kubernetes", settings };
      const toolhost = await startToolhostProcess(options, resources);
      const nats = resources.use(await connectNats(natsUrl, { name: "test", log }, signal));
      const journal = await openCallJournal(nats);
      const requests = await openCallRequests(nats);
      const call = async (callId: string, name: string, args: Record<string, string>) => {
        const request = requestOf({ name, args, callId });
        await requests.publish(request, signal);
        return resultOf(await factsUntilEnd(journal, keyOf(request), signal));
      };
      const code = 'open("kept.txt", "w").write("kept")';
      expect((await call("run_1-2-0", "execute_code", { code })).isError).toBe(false);
      const read = await call("run_1-3-0", "read_file", { path: "kept.txt" });
      expect(read.content).toContain("kept");
      expect(cluster.pods.running).toBe(1);
      expect(cluster.leases.objects.size).toBe(1);
      toolhost.kill("SIGKILL");
      await once(toolhost, "exit");
      await vi.waitFor(() => expect(cluster.pods.running).toBe(0), 20_000);
      // The next toolhost sweeps what is left.
      await startToolhostProcess(options, resources);
      await vi.waitFor(() => expect(cluster.pods.store.objects.size).toBe(0), 20_000);
    },
  );
});
