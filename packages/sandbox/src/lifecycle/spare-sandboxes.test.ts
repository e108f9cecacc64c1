import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SandboxDriver, SandboxSession, SessionSpec } from "../port.ts";
import { defaultLimits } from "../port.ts";
import { sandboxIdentity } from "../host/identity.ts";
import { SpareSandboxes } from "./spare-sandboxes.ts";
import { workspaceDirIn } from "../host/workspace-folder.ts";

const never = new AbortController().signal;
const { memoryBytes, processes } = defaultLimits;
const wishes = { readOnly: false, memoryBytes, processes };
const identity = sandboxIdentity(64_017);
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reeve-spare-"));
  mkdirSync(join(root, "acme"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Made {
  readonly spec: SessionSpec;
  isFit: boolean;
  isEnded: boolean;
}

/** A driver whose sandboxes are remembered. `problem` is why it makes none. */
function remembering() {
  const made: Made[] = [];
  const state = { problem: undefined as string | undefined, tries: 0 };
  const driver: SandboxDriver = {
    name: "in memory",
    probe: () => Promise.reject(new Error("it is not asked")),
    open: (spec) => {
      state.tries++;
      if (state.problem !== undefined) return Promise.reject(new Error(state.problem));
      const one: Made = { spec, isFit: true, isEnded: false };
      made.push(one);
      const session: SandboxSession = {
        sessionId: String(made.length),
        exec: () => {
          throw new Error("nothing runs here");
        },
        settled: () => Promise.resolve(one.isFit),
        [Symbol.asyncDispose]: () => {
          one.isEnded = true;
          return Promise.resolve();
        },
      };
      return Promise.resolve(session);
    },
    list: () => Promise.resolve([]),
    destroy: () => Promise.resolve(),
  };
  return { driver, made, state };
}

function sparesOf(driver: SandboxDriver, count: number, warn: () => void = () => undefined) {
  const folder = join(root, ".spare");
  return new SpareSandboxes(driver, { count, spec: wishes, folder, identity, log: { warn } });
}

function workspaceOf(run: string): string {
  return workspaceDirIn(join(root, "acme", run));
}

function waiting(): readonly string[] {
  return existsSync(join(root, ".spare")) ? readdirSync(join(root, ".spare")) : [];
}

test("a run gets a sandbox that was made before, over a folder that is its workspace", async () => {
  const { driver, made } = remembering();
  await using spares = sparesOf(driver, 2);
  await vi.waitFor(() => expect(made).toHaveLength(2));
  writeFileSync(join(made[0]?.spec.workspaceDir ?? "", "mark"), "");
  const workspaceDir = workspaceOf("run_1");
  expect((await spares.open({ ...wishes, workspaceDir }, never)).sessionId).toBe("1");
  expect(readdirSync(workspaceDir)).toEqual(["mark"]);
  expect(made[0]?.spec.workspaceDir).toBe(workspaceDir);
  await vi.waitFor(() => expect(made).toHaveLength(3), 5_000);
  expect(waiting()).toHaveLength(2);
});

test("no sandbox is given twice, and as many are made as are asked for", async () => {
  const { driver, made } = remembering();
  await using spares = sparesOf(driver, 2);
  await vi.waitFor(() => expect(made).toHaveLength(2));
  const runs = Array.from({ length: 5 }, (_, index) => `run_${index}`);
  const sessions = await Promise.all(
    runs.map((run) => spares.open({ ...wishes, workspaceDir: workspaceOf(run) }, never)),
  );
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(5);
  for (const run of runs) expect(existsSync(workspaceOf(run))).toBe(true);
});

test("several that come at once for one new workspace are all over the same folder", async () => {
  const { driver, made } = remembering();
  await using spares = sparesOf(driver, 3);
  await vi.waitFor(() => expect(made).toHaveLength(3));
  const workspaceDir = workspaceOf("run_1");
  const spec = { ...wishes, workspaceDir };
  await Promise.all([spares.open(spec, never), spares.open(spec, never)]);
  const over = made.filter((each) => each.spec.workspaceDir === workspaceDir);
  expect(over).toHaveLength(2);
});

test.each([
  ["other memory", { memoryBytes: 2 ** 20 }],
  ["another number of processes", { processes: 1 }],
  ["a workspace that is read-only", { readOnly: true }],
])("a wish for %s gets a sandbox of its own", async (_, wish) => {
  const { driver, made } = remembering();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(made).toHaveLength(1));
  const workspaceDir = workspaceOf("run_1");
  const { sessionId } = await spares.open({ ...wishes, ...wish, workspaceDir }, never);
  expect(sessionId).toBe("2");
  expect(existsSync(workspaceDir)).toBe(true);
});

test("a workspace that is there keeps its folder and all that lies in it", async () => {
  const { driver, made } = remembering();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(made).toHaveLength(1));
  const workspaceDir = workspaceOf("run_1");
  mkdirSync(workspaceDir, { recursive: true });
  expect((await spares.open({ ...wishes, workspaceDir }, never)).sessionId).toBe("2");
  expect(waiting()).toHaveLength(1);
  expect(made[0]?.spec.workspaceDir).not.toBe(workspaceDir);
});

test("one that has ended while it waited is not given", async () => {
  const { driver, made } = remembering();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(made).toHaveLength(1));
  if (made[0] !== undefined) made[0].isFit = false;
  const workspaceDir = workspaceOf("run_1");
  expect((await spares.open({ ...wishes, workspaceDir }, never)).sessionId).toBe("2");
  expect(made[0]?.isEnded).toBe(true);
});

test("one that cannot be given is told of and ends, and the run has a sandbox all the same", async () => {
  const { driver, made } = remembering();
  let warned = 0;
  await using spares = sparesOf(driver, 1, () => void warned++);
  await vi.waitFor(() => expect(made).toHaveLength(1));
  rmSync(join(root, ".spare"), { recursive: true });
  const workspaceDir = workspaceOf("run_1");
  expect((await spares.open({ ...wishes, workspaceDir }, never)).sessionId).toBe("2");
  expect(existsSync(workspaceDir)).toBe(true);
  expect(warned).toBe(1);
  expect(made[0]?.isEnded).toBe(true);
});

test("a driver that makes none is tried again later, and calls are told what it says", async () => {
  const { driver, state } = remembering();
  state.problem = "the disk is full";
  let warned = 0;
  await using spares = sparesOf(driver, 2, () => void warned++);
  await vi.waitFor(() => expect(warned).toBe(1));
  expect(state.tries).toBe(1);
  expect(waiting()).toEqual([]);
  const spec = { ...wishes, workspaceDir: workspaceOf("run_1") };
  await expect(spares.open(spec, never)).rejects.toThrow("the disk is full");
  state.problem = undefined;
  await vi.waitFor(() => expect(waiting()).toHaveLength(2), 10_000);
});

test("with their owner all that wait end, and their folders go", async () => {
  const { driver, made } = remembering();
  const spares = sparesOf(driver, 3);
  await vi.waitFor(() => expect(made).toHaveLength(3));
  await spares[Symbol.asyncDispose]();
  expect(made.map(({ isEnded }) => isEnded)).toEqual([true, true, true]);
  expect(waiting()).toEqual([]);
});

test("folders of a toolhost that is gone are orphans, and are taken away", async () => {
  const { driver, made } = remembering();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(made).toHaveLength(1));
  const [own = ""] = waiting();
  const [kind, machine] = own.split("~");
  const lost = [kind, machine, "999999999.1", "ab"].join("~");
  const elsewhere = [kind, "another-machine", "999999999.1", "ab"].join("~");
  for (const name of [lost, elsewhere])
    mkdirSync(join(root, ".spare", name, "files"), { recursive: true });
  const records = await spares.list(never);
  expect(records).toHaveLength(2);
  expect(records).toContainEqual({ sessionId: lost, isOrphan: true });
  expect(records).toContainEqual({ sessionId: own, isOrphan: false });
  await spares.destroy(lost, never);
  expect(waiting()).toHaveLength(2);
});
