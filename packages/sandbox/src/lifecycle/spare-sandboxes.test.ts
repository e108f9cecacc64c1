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
const spareSpec = { readOnly: false, memoryBytes, processes };
const identity = sandboxIdentity(64_017);
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reeve-spare-"));
  mkdirSync(join(root, "acme"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface StartedSandbox {
  readonly spec: SessionSpec;
  /** Resolves when it has started. */
  readonly hasStarted: Promise<void>;
  isUsable: boolean;
  isEnded: boolean;
}

/** A driver that records its sandboxes. While `problem` is set, opening one fails with it. */
function recordingDriver() {
  const started: StartedSandbox[] = [];
  const state = {
    problem: undefined as string | undefined,
    tries: 0,
    hasStarted: Promise.resolve(),
  };
  const driver: SandboxDriver = {
    name: "in memory",
    probe: () => Promise.reject(new Error("unexpected probe")),
    open: (spec) => {
      state.tries++;
      if (state.problem !== undefined) return Promise.reject(new Error(state.problem));
      const { hasStarted } = state;
      const one: StartedSandbox = { spec, hasStarted, isUsable: true, isEnded: false };
      started.push(one);
      const session: SandboxSession = {
        sessionId: String(started.length),
        exec: () => {
          throw new Error("unexpected command");
        },
        settled: async () => {
          await one.hasStarted;
          return one.isUsable;
        },
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
  return { driver, started, state };
}

function sparesOf(
  driver: SandboxDriver,
  count: number,
  warn: () => void = () => undefined,
  startMs?: number,
) {
  const folder = join(root, ".spare");
  const options = { count, spec: spareSpec, folder, identity, log: { warn } };
  return new SpareSandboxes(driver, { ...options, ...(startMs !== undefined && { startMs }) });
}

function workspaceOf(run: string): string {
  return workspaceDirIn(join(root, "acme", run));
}

function waiting(): readonly string[] {
  return existsSync(join(root, ".spare")) ? readdirSync(join(root, ".spare")) : [];
}

test("a new run gets a spare sandbox, whose folder becomes its workspace", async () => {
  const { driver, started } = recordingDriver();
  await using spares = sparesOf(driver, 2);
  await vi.waitFor(() => expect(started).toHaveLength(2), 10_000);
  writeFileSync(join(started[0]?.spec.workspaceDir ?? "", "mark"), "");
  const workspaceDir = workspaceOf("run_1");
  expect((await spares.open({ ...spareSpec, workspaceDir }, never)).sessionId).toBe("1");
  expect(readdirSync(workspaceDir)).toEqual(["mark"]);
  expect(started[0]?.spec.workspaceDir).toBe(workspaceDir);
  await vi.waitFor(() => expect(started).toHaveLength(3), 5_000);
  expect(waiting()).toHaveLength(2);
});

test("no spare is used twice, and more sandboxes than spares are started on demand", async () => {
  const { driver, started } = recordingDriver();
  await using spares = sparesOf(driver, 2);
  await vi.waitFor(() => expect(started).toHaveLength(2), 10_000);
  const runs = Array.from({ length: 5 }, (_, index) => `run_${index}`);
  const sessions = await Promise.all(
    runs.map((run) => spares.open({ ...spareSpec, workspaceDir: workspaceOf(run) }, never)),
  );
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(5);
  for (const run of runs) expect(existsSync(workspaceOf(run))).toBe(true);
});

test("concurrent sandboxes for one new workspace share its folder", async () => {
  const { driver, started } = recordingDriver();
  await using spares = sparesOf(driver, 3);
  await vi.waitFor(() => expect(started).toHaveLength(3), 10_000);
  const workspaceDir = workspaceOf("run_1");
  const spec = { ...spareSpec, workspaceDir };
  await Promise.all([spares.open(spec, never), spares.open(spec, never)]);
  const over = started.filter((each) => each.spec.workspaceDir === workspaceDir);
  expect(over).toHaveLength(2);
});

test.each([
  ["other memory", { memoryBytes: 2 ** 20 }],
  ["another number of processes", { processes: 1 }],
  ["a workspace that is read-only", { readOnly: true }],
])("a spec with %s starts another sandbox", async (_, other) => {
  const { driver, started } = recordingDriver();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(started).toHaveLength(1), 10_000);
  const workspaceDir = workspaceOf("run_1");
  const { sessionId } = await spares.open({ ...spareSpec, ...other, workspaceDir }, never);
  expect(sessionId).toBe("2");
  expect(existsSync(workspaceDir)).toBe(true);
});

test("an existing workspace keeps its folder and its content", async () => {
  const { driver, started } = recordingDriver();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(started).toHaveLength(1), 10_000);
  const workspaceDir = workspaceOf("run_1");
  mkdirSync(workspaceDir, { recursive: true });
  expect((await spares.open({ ...spareSpec, workspaceDir }, never)).sessionId).toBe("2");
  expect(waiting()).toHaveLength(1);
  expect(started[0]?.spec.workspaceDir).not.toBe(workspaceDir);
});

test("a spare that ended while it waited is not used", async () => {
  const { driver, started } = recordingDriver();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(started).toHaveLength(1), 10_000);
  if (started[0] !== undefined) started[0].isUsable = false;
  const workspaceDir = workspaceOf("run_1");
  expect((await spares.open({ ...spareSpec, workspaceDir }, never)).sessionId).toBe("2");
  expect(started[0]?.isEnded).toBe(true);
});

test("a call that waits for the start of a spare can be cancelled, and nothing is left of the spare", async () => {
  const { driver, started, state } = recordingDriver();
  state.hasStarted = new Promise(() => undefined);
  const spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(started).toHaveLength(1), 10_000);
  const call = new AbortController();
  const opening = spares.open({ ...spareSpec, workspaceDir: workspaceOf("run_1") }, call.signal);
  call.abort(new DOMException("the call was cancelled", "AbortError"));
  await expect(opening).rejects.toThrow("the call was cancelled");
  await spares[Symbol.asyncDispose]();
  expect(started.every(({ isEnded }) => isEnded)).toBe(true);
  expect(waiting()).toEqual([]);
});

test("a run does not wait for a spare that never starts", async () => {
  const { driver, started, state } = recordingDriver();
  state.hasStarted = new Promise(() => undefined);
  await using spares = sparesOf(driver, 1, () => undefined, 1);
  await vi.waitFor(() => expect(started).toHaveLength(1), 10_000);
  state.hasStarted = Promise.resolve();
  await spares.open({ ...spareSpec, workspaceDir: workspaceOf("run_1") }, never);
  expect(started[0]?.isEnded).toBe(true);
  expect(existsSync(workspaceOf("run_1"))).toBe(true);
});

test("a spare whose folder cannot be renamed is logged and ended, and the run gets another sandbox", async () => {
  const { driver, started } = recordingDriver();
  let warned = 0;
  await using spares = sparesOf(driver, 1, () => void warned++);
  await vi.waitFor(() => expect(started).toHaveLength(1), 10_000);
  rmSync(join(root, ".spare"), { recursive: true });
  const workspaceDir = workspaceOf("run_1");
  expect((await spares.open({ ...spareSpec, workspaceDir }, never)).sessionId).toBe("2");
  expect(existsSync(workspaceDir)).toBe(true);
  expect(warned).toBe(1);
  expect(started[0]?.isEnded).toBe(true);
});

test("a driver that fails is retried later, and callers get its error", async () => {
  const { driver, state } = recordingDriver();
  state.problem = "the disk is full";
  let warned = 0;
  await using spares = sparesOf(driver, 2, () => void warned++);
  await vi.waitFor(() => expect(warned).toBe(1), 10_000);
  expect(state.tries).toBe(1);
  expect(waiting()).toEqual([]);
  const spec = { ...spareSpec, workspaceDir: workspaceOf("run_1") };
  await expect(spares.open(spec, never)).rejects.toThrow("the disk is full");
  state.problem = undefined;
  await vi.waitFor(() => expect(waiting()).toHaveLength(2), 10_000);
});

test("disposing ends all spares and deletes their folders", async () => {
  const { driver, started } = recordingDriver();
  const spares = sparesOf(driver, 3);
  await vi.waitFor(() => expect(started).toHaveLength(3), 10_000);
  await spares[Symbol.asyncDispose]();
  expect(started.map(({ isEnded }) => isEnded)).toEqual([true, true, true]);
  expect(waiting()).toEqual([]);
});

test("folders of a dead toolhost are orphans and can be destroyed", async () => {
  const { driver, started } = recordingDriver();
  await using spares = sparesOf(driver, 1);
  await vi.waitFor(() => expect(started).toHaveLength(1), 10_000);
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
