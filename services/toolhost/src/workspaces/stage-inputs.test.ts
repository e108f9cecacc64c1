import { once as event } from "node:events";
import { create } from "@bufbuild/protobuf";
import { WorkspaceFileSchema } from "@reeve/contracts/tool";
import { beforeEach, expect, test, vi } from "vitest";
import type { WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import {
  does,
  MemoryHosts,
  MemoryStorage,
  never,
  requestOf,
} from "../../test/support/memory-workspaces.ts";

let hosts: MemoryHosts;

beforeEach(() => {
  hosts = new MemoryHosts();
});

type Host = Pick<ReturnType<MemoryHosts["host"]>, "keeper">;

async function write(
  { keeper }: Host,
  path: string,
  text: string,
  call: WorkspaceRequest = requestOf(),
) {
  await using workspace = await keeper.open(call, never);
  await does(workspace, "write", path, text);
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

test("a workspace keeps edits of input files that were saved while another call still ran", async () => {
  const draft = { name: "f", mediaType: "text/plain", runId: "" };
  const { artifactId } = await hosts.artifacts.put("acme", draft, once("given"), never);
  const files = [create(WorkspaceFileSchema, { artifactId, path: "in" })];
  const disk = new MemoryStorage("disk");
  const [a, b] = [hosts.hostAt(disk, "a"), hosts.hostAt(disk, "b", { saveAfterMs: 0 })];
  const running = await a.keeper.open(requestOf("run_command", "call-a"), never);
  await does(running, "write", "a", "begun");
  await write(b, "in", "edited", { ...requestOf("write_file", "call-b"), files });
  await vi.waitFor(async () => expect((await hosts.record())?.snapshot).not.toBe(""), 10_000);
  hosts.kill("a");
  hosts.kill("b");
  await using workspace = await hosts.host("c").keeper.open({ ...requestOf(), files }, never);
  expect(await does(workspace, "read", "in")).toBe("edited");
});

test.each(["run_1", "thread-t"])(
  "runs that continue each other in workspace %s keep edits of the input files",
  async (id) => {
    const draft = { name: "f", mediaType: "text/plain", runId: "" };
    const { artifactId } = await hosts.artifacts.put("acme", draft, once("given"), never);
    const files = [create(WorkspaceFileSchema, { artifactId, path: "in" })];
    const host = hosts.host("a");
    // The first run, `run_1`, never used its files.
    const call = { ...requestOf("write_file"), id, files };
    await write(host, "in", "edited", { ...call, runId: "run_2" });
    await using workspace = await host.keeper.open({ ...call, runId: "run_3" }, never);
    expect(await does(workspace, "read", "in")).toBe("edited");
  },
);

test("a workspace gets its input files although the call that started to stage them is cancelled", async () => {
  const draft = { name: "f", mediaType: "text/plain", runId: "" };
  const { artifactId } = await hosts.artifacts.put("acme", draft, once("given"), never);
  const files = [create(WorkspaceFileSchema, { artifactId, path: "in" })];
  const { keeper, ports } = hosts.host("a");
  const first = new AbortController();
  const begun = Promise.withResolvers<void>();
  const read = ports.artifacts.read.bind(ports.artifacts);
  let reads = 0;
  Object.assign(ports, {
    artifacts: {
      read: async function* (...given: Parameters<typeof read>) {
        if (++reads > 1) return yield* read(...given);
        begun.resolve();
        await event(first.signal, "abort");
        first.signal.throwIfAborted();
      },
    },
  });
  const cancelled = keeper.open({ ...requestOf(), files }, first.signal);
  await begun.promise;
  const second = keeper.open({ ...requestOf("read_file"), files }, never);
  first.abort();
  await expect(cancelled).rejects.toThrow("aborted");
  await using workspace = await second;
  expect(await does(workspace, "read", "in")).toBe("given");
});
