import {
  chmod,
  chown,
  mkdir,
  readFile,
  rm,
  stat,
  writeFile as writeOutside,
} from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { BubblewrapDriver } from "../src/bubblewrap/driver.ts";
import { sandboxIdentity } from "../src/host/identity.ts";
import { HostWorkspaceStorage } from "../src/storage/host-workspace-storage.ts";
import { storageId } from "../src/storage/storage-id.ts";
import { WarmSandboxes } from "../src/lifecycle/warm-sandboxes.ts";
import { workspaceRoot } from "../src/host/workspace-root.ts";
import { readText, writeFile } from "../src/files/workspace-files.ts";
import { commandOf } from "./support/bubblewrap-here.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const signal = new AbortController().signal;
const identity = sandboxIdentity(64_017);
const driver = new BubblewrapDriver(identity);
const warm = new WarmSandboxes(driver, { idleMs: 60_000, maxIdle: 4 });
const report = await driver.probe(signal);
const why = report.works ? "" : ` (skipped: ${report.reason})`;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
  await chmod(folder.path, 0o711);
});

afterEach(() => folder[Symbol.asyncDispose]());
afterAll(() => warm[Symbol.asyncDispose]());

function openStorage(): HostWorkspaceStorage {
  const data = join(folder.path, "data");
  const root = workspaceRoot(data, identity);
  return new HostWorkspaceStorage({ id: storageId(data), root, identity }, warm);
}

describe.skipIf(!report.works)(`workspace storage on a host${why}`, () => {
  const request = { path: "in/a.txt", offset: 0, limit: undefined };

  test("keeps folders that only sandboxes can read, also after a restart of the toolhost", async () => {
    const sandbox = openStorage().sandbox("acme", "run_1");
    await writeFile(sandbox, "in/a.txt", Buffer.from("one"), signal);
    const path = join(folder.path, "data/workspaces/acme/run_1/files");
    expect(await stat(path)).toMatchObject({ uid: identity.uid, mode: 0o40700 });
    const next = openStorage();
    expect(next.has("acme", "run_1")).toBe(true);
    expect(next.id).toBe(openStorage().id);
    const again = next.sandbox("acme", "run_1");
    expect(await readText(again, request, signal)).toMatchObject({ text: "one" });
    expect(await next.list()).toMatchObject([{ tenant: "acme", folder: "run_1" }]);
  });

  test("removes a folder with everything that untrusted code created, and nothing outside it", async () => {
    const storage = openStorage();
    const sandbox = storage.sandbox("acme", "run_2");
    const outside = join(folder.path, "outside");
    await mkdir(outside, { mode: 0o777 });
    await writeOutside(join(outside, "kept"), "kept");
    const script = [
      "mkdir -p closed/inner odd\\name; touch closed/inner/x",
      "chmod 000 closed/inner closed",
      "mkfifo pipe",
      `ln -s ${outside} away`,
      "d=.; for i in $(seq 1 1200); do mkdir d; cd d; done",
    ].join("; ");
    for await (const _ of sandbox.exec(commandOf("/bin/sh", "-c", script), signal));
    await storage.remove("acme", "run_2", signal);
    expect(storage.has("acme", "run_2")).toBe(false);
    expect(await readFile(join(outside, "kept"), "utf8")).toBe("kept");
    await storage.remove("acme", "run_2", signal);
  });
});

describe.skipIf(!identity.isDedicated)("the workspace root of a toolhost that runs as root", () => {
  test("lets sandboxes pass through the data folder, and no other user", async () => {
    const data = join(folder.path, "data");
    await mkdir(data, { mode: 0o700 });
    expect(workspaceRoot(data, identity)).toBe(join(data, "workspaces"));
    for (const path of [data, join(data, "workspaces")]) {
      expect(await stat(path)).toMatchObject({ uid: 0, gid: identity.gid, mode: 0o40710 });
    }
  });

  test("does not change a data folder through which all users may pass", async () => {
    const data = join(folder.path, "data");
    await mkdir(data);
    await chmod(data, 0o755);
    workspaceRoot(data, identity);
    expect(await stat(data)).toMatchObject({ gid: 0, mode: 0o40755 });
  });

  test("is in /var/lib/reeve if sandboxes cannot reach the data folder", async () => {
    await chmod(folder.path, 0o700);
    const root = workspaceRoot(join(folder.path, "data"), identity);
    expect(root).toMatch(/^\/var\/lib\/reeve\/workspaces-[0-9a-f]{16}$/);
    await rm(root, { recursive: true });
  });

  test("is refused if another user owns it", async () => {
    const data = join(folder.path, "data");
    await mkdir(join(data, "workspaces"), { recursive: true });
    await chown(join(data, "workspaces"), 12_345, 12_345);
    expect(() => workspaceRoot(data, identity)).toThrow("is not a folder owned by the toolhost");
  });
});
