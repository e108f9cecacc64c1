import { create, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { WorkspaceFilesRequestSchema } from "@reeve/contracts/tool";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { natsWorkspacePeers } from "../src/workspaces/nats-workspace-peers.ts";
import { openWorkspaces } from "../src/workspaces/open-workspaces.ts";
import { does, MemoryStorage, requestOf } from "./support/memory-workspaces.ts";
import { toolhostConfig } from "../src/config.ts";
import type { Sandbox, SandboxCommand } from "@reeve/sandbox/port";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";

const log = createLogger("test", "silent");
const signal = new AbortController().signal;
const resources = new AsyncDisposableStack();
let nats: Nats;

beforeAll(async () => {
  const storeDir = resources.use(await temporaryFolder()).path;
  const server = resources.use(await startNatsServer({ storeDir, log }, signal));
  nats = resources.use(await connectNats(server.url, { name: "test", log }, signal));
});

afterAll(() => resources.disposeAsync());

/** Storage in which one operation of our programs waits until the test lets it continue. */
class SlowStorage extends MemoryStorage {
  readonly begun = Promise.withResolvers<void>();
  readonly mayContinue = Promise.withResolvers<void>();
  readonly #slow: string;

  constructor(id: string, slow: string) {
    super(id);
    this.#slow = slow;
  }

  override sandbox(tenant: string, folder: string): Sandbox {
    const { isolation, exec } = super.sandbox(tenant, folder);
    const slowly = async function* (
      this: SlowStorage,
      command: SandboxCommand,
      until: AbortSignal,
    ) {
      if (command.program !== undefined && command.argv[0]?.includes(`"${this.#slow}"`) === true) {
        this.begun.resolve();
        await this.mayContinue.promise;
      }
      yield* exec(command, until);
    }.bind(this);
    return { isolation, exec: slowly };
  }
}

/** Opens the workspaces of a toolhost that saves only when it is asked. */
async function host(name: string, storage: MemoryStorage) {
  const config = toolhostConfig.parse({ REEVE_WORKSPACE_SAVE_MS: "3600000" });
  const artifacts = new MemoryArtifactStore({ maxBytes: 1_000_000 });
  return await openWorkspaces({ storage }, { config, nats, artifacts, host: name, log }, signal);
}

test("a toolhost that ends replies that it is saving to a host that needs a workspace, and loses nothing", async () => {
  const storage = new SlowStorage("storage-b", "snapshot");
  await using b = await host("b", storage);
  const call = { ...requestOf(), id: "run_1" };
  await using a = await host("a", new MemoryStorage("storage-a"));
  {
    await using workspace = await b.open(call, signal);
    await does(workspace, "write", "x", "1");
  }
  const ending = b[Symbol.asyncDispose]();
  await storage.begun.promise;
  const request = { tenant: call.tenant, id: call.id, onlyAsk: false };
  expect(await natsWorkspacePeers(nats).release("b", request, signal)).toBe("busy");
  const taking = a.open({ ...requestOf("read_file"), id: "run_1" }, signal);
  storage.mayContinue.resolve();
  await ending;
  await using taken = await taking;
  expect(await does(taken, "read", "x")).toBe("1");
  expect(taken.losses).toBeUndefined();
});

test("a toolhost that ends saves what a client is writing", async () => {
  const storage = new SlowStorage("storage-c", "write");
  await using c = await host("c", storage);
  const operation = {
    case: "write" as const,
    value: { path: "x", source: { case: "content" as const, value: Buffer.from("1") } },
  };
  const request = create(WorkspaceFilesRequestSchema, {
    tenant: "acme",
    runId: "run_2",
    workspace: { id: "run_2" },
    operation,
  });
  const { subject } = channelOf(WorkspaceFilesRequestSchema);
  nats.connection.publish(subject({ host: "c" }), toBinary(WorkspaceFilesRequestSchema, request));
  await storage.begun.promise;
  const ending = c[Symbol.asyncDispose]();
  storage.mayContinue.resolve();
  await ending;
  await using d = await host("d", new MemoryStorage("storage-d"));
  await using taken = await d.open(
    { ...requestOf("read_file"), id: "run_2", runId: "run_2" },
    signal,
  );
  expect(await does(taken, "read", "x")).toBe("1");
  expect(taken.losses).toBeUndefined();
});
