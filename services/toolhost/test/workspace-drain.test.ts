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
import { does, MemoryPlace, wanted } from "./support/memory-workspaces.ts";
import { toolhostConfig } from "../src/config.ts";
import type { Sandbox, SandboxCommand } from "@reeve/sandbox/port";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";

const log = createLogger("test", "silent");
const signal = AbortSignal.timeout(60_000);
const resources = new AsyncDisposableStack();
let nats: Nats;

beforeAll(async () => {
  const storeDir = resources.use(await temporaryFolder()).path;
  const server = resources.use(await startNatsServer({ storeDir, log }, signal));
  nats = resources.use(await connectNats(server.url, { name: "test", log }, signal));
});

afterAll(() => resources.disposeAsync());

/** A place where an operation of our own programs waits until it may go on. */
class SlowPlace extends MemoryPlace {
  readonly begun = Promise.withResolvers<void>();
  readonly mayGoOn = Promise.withResolvers<void>();
  readonly #slow: string;

  constructor(id: string, slow: string) {
    super(id);
    this.#slow = slow;
  }

  override sandbox(tenant: string, folder: string): Sandbox {
    const { isolation, exec } = super.sandbox(tenant, folder);
    const slowly = async function* (this: SlowPlace, command: SandboxCommand, until: AbortSignal) {
      if (command.program !== undefined && command.argv[0]?.includes(`"${this.#slow}"`) === true) {
        this.begun.resolve();
        await this.mayGoOn.promise;
      }
      yield* exec(command, until);
    }.bind(this);
    return { isolation, exec: slowly };
  }
}

/** The workspaces of a toolhost that never saves by itself. */
async function host(name: string, place: MemoryPlace) {
  const config = toolhostConfig.parse({ REEVE_WORKSPACE_SAVE_MS: "3600000" });
  const artifacts = new MemoryArtifactStore({ maxBytes: 1_000_000 });
  return await openWorkspaces(
    { storage: place },
    { config, nats, artifacts, host: name, log },
    signal,
  );
}

test("a toolhost that ends says that it is saving to whoever wants a workspace meanwhile, and loses nothing", async () => {
  const place = new SlowPlace("place-b", "snapshot");
  await using b = await host("b", place);
  const call = { ...wanted(), id: "run_1" };
  await using a = await host("a", new MemoryPlace("place-a"));
  {
    await using workspace = await b.open(call, signal);
    await does(workspace, "write", "x", "1");
  }
  const ending = b[Symbol.asyncDispose]();
  await place.begun.promise;
  const asked = { tenant: call.tenant, id: call.id, onlyAsk: false };
  expect(await natsWorkspacePeers(nats).release("b", asked, signal)).toBe("busy");
  const taking = a.open({ ...wanted("read_file"), id: "run_1" }, signal);
  place.mayGoOn.resolve();
  await ending;
  await using taken = await taking;
  expect(await does(taken, "read", "x")).toBe("1");
  expect(taken.losses).toBeUndefined();
});

test("a toolhost that ends saves what a client writes at that moment", async () => {
  const place = new SlowPlace("place-c", "write");
  await using c = await host("c", place);
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
  await place.begun.promise;
  const ending = c[Symbol.asyncDispose]();
  place.mayGoOn.resolve();
  await ending;
  await using d = await host("d", new MemoryPlace("place-d"));
  await using taken = await d.open({ ...wanted("read_file"), id: "run_2", runId: "run_2" }, signal);
  expect(await does(taken, "read", "x")).toBe("1");
  expect(taken.losses).toBeUndefined();
});
