import { chmod, chown, mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { WorkspaceFileSchema } from "@reeve/contracts/tool";
import { MemoryArtifactStore } from "@reeve/store/memory-artifact-store";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { BubblewrapDriver } from "../src/adapters/bubblewrap/bubblewrap-driver.ts";
import { sandboxIdentity } from "../src/adapters/bubblewrap/identity.ts";
import { HostWorkspaces } from "../src/adapters/host-workspaces.ts";
import { WarmSandboxes } from "../src/adapters/warm-sandboxes.ts";
import { workspaceRoot } from "../src/adapters/workspace-root.ts";
import { readText, writeFile } from "../src/app/workspace-files.ts";
import { temporaryFolder } from "./support/toolhost.ts";

const signal = AbortSignal.timeout(60_000);
const identity = sandboxIdentity(64_017);
const driver = new BubblewrapDriver(identity);
const warm = new WarmSandboxes(driver, { idleMs: 60_000, mostIdle: 4 });
const report = await driver.probe(signal);
const why = report.works ? "" : ` (skipped: ${report.reason})`;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let artifacts: MemoryArtifactStore;

beforeEach(async () => {
  folder = await temporaryFolder();
  await chmod(folder.path, 0o711);
  artifacts = new MemoryArtifactStore({ maxBytes: 1_000_000 });
});

afterEach(() => folder[Symbol.asyncDispose]());
afterAll(() => warm[Symbol.asyncDispose]());

function open(): HostWorkspaces {
  const data = join(folder.path, "data");
  const root = workspaceRoot(data, identity);
  return new HostWorkspaces({ root, markers: join(data, "laid"), identity }, warm, artifacts);
}

async function artifact(text: string): Promise<string> {
  const draft = { name: "file", mediaType: "text/plain", runId: "" };
  const { artifactId } = await artifacts.put("acme", draft, once(text), signal);
  return artifactId;
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

function wanted(...files: readonly (readonly [path: string, artifactId: string])[]) {
  return {
    tenant: "acme",
    runId: "run_1",
    files: files.map(([path, artifactId]) => create(WorkspaceFileSchema, { path, artifactId })),
  };
}

describe.skipIf(!report.works)(`the workspace of a run${why}`, () => {
  test("holds the run's files before anything runs, and is the sandbox's own", async () => {
    const request = wanted(["in/a.txt", await artifact("one")], ["b.txt", await artifact("two")]);
    const workspaces = open();
    // Calls of one turn come together.
    const [sandbox] = await Promise.all([
      workspaces.open(request, signal),
      workspaces.open(request, signal),
    ]);
    const some = { path: "in/a.txt", offset: 0, limit: undefined };
    expect(await readText(sandbox, some, signal)).toMatchObject({ text: "one" });
    const path = join(folder.path, "data/workspaces/acme/run_1/files");
    expect(await stat(path)).toMatchObject({ uid: identity.uid, mode: 0o40700 });
    expect(await readFile(join(path, "b.txt"), "utf8")).toBe("two");
  });

  test("keeps what a run has made of its files", async () => {
    const request = wanted(["a.txt", await artifact("given")]);
    const sandbox = await open().open(request, signal);
    await writeFile(sandbox, "a.txt", Buffer.from("changed"), signal);
    // Another life of the toolhost.
    const again = await open().open(request, signal);
    const some = { path: "a.txt", offset: 0, limit: undefined };
    expect(await readText(again, some, signal)).toMatchObject({ text: "changed" });
  });

  test.each(["../x", "/etc/x", "a/../../x", "/workspace/../x"])(
    "refuses a file at %s",
    async (path) => {
      const request = wanted([path, await artifact("x")]);
      await expect(open().open(request, signal)).rejects.toThrow("leads out of the workspace");
    },
  );

  test("says which artifact is missing, and gets it when it is there", async () => {
    const missing = wanted(["a.txt", "art_00000000000000000000000000000000"]);
    const workspaces = open();
    await expect(workspaces.open(missing, signal)).rejects.toMatchObject({ kind: "not_found" });
    const request = wanted(["a.txt", await artifact("there")]);
    const sandbox = await workspaces.open(request, signal);
    const some = { path: "a.txt", offset: 0, limit: undefined };
    expect(await readText(sandbox, some, signal)).toMatchObject({ text: "there" });
  });

  test.each(["..", "a/b", "", "."])("is not made for a run named %j", async (runId) => {
    const request = { tenant: "acme", runId, files: [] };
    await expect(open().open(request, signal)).rejects.toThrow("not a name");
  });
});

describe.skipIf(!identity.isDedicated)("the folder of workspaces of a toolhost of root", () => {
  test("lets sandboxes pass through the data folder, and nobody else", async () => {
    const data = join(folder.path, "data");
    await mkdir(data, { mode: 0o700 });
    expect(workspaceRoot(data, identity)).toBe(join(data, "workspaces"));
    for (const path of [data, join(data, "workspaces")]) {
      expect(await stat(path)).toMatchObject({ uid: 0, gid: identity.gid, mode: 0o40710 });
    }
  });

  test("leaves a data folder alone that everybody may pass", async () => {
    const data = join(folder.path, "data");
    await mkdir(data);
    await chmod(data, 0o755);
    workspaceRoot(data, identity);
    expect(await stat(data)).toMatchObject({ gid: 0, mode: 0o40755 });
  });

  test("lies elsewhere when the data folder is out of reach", async () => {
    await chmod(folder.path, 0o700);
    const root = workspaceRoot(join(folder.path, "data"), identity);
    expect(root).toMatch(/^\/var\/lib\/reeve\/workspaces-[0-9a-f]{16}$/);
    await rm(root, { recursive: true });
  });

  test("is refused when somebody else made it", async () => {
    const data = join(folder.path, "data");
    await mkdir(join(data, "workspaces"), { recursive: true });
    await chown(join(data, "workspaces"), 12_345, 12_345);
    expect(() => workspaceRoot(data, identity)).toThrow("not a folder of ours");
  });
});
