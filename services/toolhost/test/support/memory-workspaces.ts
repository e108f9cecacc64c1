import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import type { ExecEvent, Sandbox, SandboxCommand } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import type { StoredWorkspace, WorkspaceStorage } from "@reeve/sandbox/storage/workspace-storage";
import type { OpenWorkspace } from "@reeve/calls/ports/workspaces";
import { collect } from "@reeve/sandbox/files/collect";
import { logLiveness } from "@reeve/run/liveness/liveness";
import { hasOpenRun } from "../../src/workspaces/open-runs.ts";
import { WorkspaceKeeper } from "../../src/workspaces/workspace-keeper.ts";
import type {
  RunLiveness,
  WorkspaceLimits,
  WorkspacePorts,
} from "../../src/workspaces/workspace-ports.ts";

export const never = new AbortController().signal;

type Files = Map<string, string>;

/** Workspace storage in memory. Its sandboxes know those of our programs that the tests use. */
export class MemoryStorage implements WorkspaceStorage {
  readonly isolation = "memory";
  readonly id: string;
  readonly folders = new Map<string, Files>();
  /** Why snapshots fail. Empty: the sandbox is lost. Undefined: they succeed. */
  refusal: string | undefined;

  constructor(id: string) {
    this.id = id;
  }

  has(tenant: string, folder: string): boolean {
    return this.folders.has(`${tenant}/${folder}`);
  }

  isEmpty(tenant: string, folder: string): Promise<boolean> {
    return Promise.resolve(this.folders.get(`${tenant}/${folder}`)?.size === 0);
  }

  sandbox(tenant: string, folder: string): Sandbox {
    const name = `${tenant}/${folder}`;
    const files = this.folders.get(name) ?? new Map<string, string>();
    this.folders.set(name, files);
    return { isolation: this.isolation, exec: (command) => this.#exec(files, command) };
  }

  #exec(files: Files, command: SandboxCommand): AsyncIterable<ExecEvent> {
    const isSnapshot = command.program === "workspace_archive" && command.argv[0]?.includes("most");
    return isSnapshot && this.refusal !== undefined ? refuse(this.refusal) : run(files, command);
  }

  remove(tenant: string, folder: string): Promise<void> {
    this.folders.delete(`${tenant}/${folder}`);
    return Promise.resolve();
  }

  list(): Promise<readonly StoredWorkspace[]> {
    const found = [...this.folders.keys()].map((name) => {
      const [tenant = "", folder = ""] = name.split("/");
      return { tenant, folder, changedMs: 0 };
    });
    return Promise.resolve(found);
  }
}

async function* refuse(why: string): AsyncIterable<ExecEvent> {
  if (why === "") {
    yield { kind: "end", reason: "sandbox_lost", code: undefined, durationMs: 0 };
    return;
  }
  yield { kind: "out", stream: "stderr", bytes: Buffer.from(why) };
  yield { kind: "end", reason: "exit", code: 2, durationMs: 0 };
}

async function* run(files: Files, command: SandboxCommand): AsyncIterable<ExecEvent> {
  const { argv, program } = command;
  let stdin = "";
  if (command.stdin instanceof Uint8Array) stdin = Buffer.from(command.stdin).toString();
  else for await (const chunk of command.stdin ?? []) stdin += Buffer.from(chunk).toString();
  const [first = "", path = "", text = ""] = argv;
  const request =
    program === undefined
      ? { operation: first, path }
      : (JSON.parse(first) as { readonly operation: string; readonly path: string });
  let out = "";
  if (request.operation === "write") files.set(request.path, program === undefined ? text : stdin);
  if (request.operation === "read") out = files.get(request.path) ?? "[nothing]";
  if (request.operation === "snapshot") out = JSON.stringify([...files]);
  if (request.operation === "restore") {
    for (const [name, content] of JSON.parse(stdin) as [string, string][]) files.set(name, content);
  }
  yield { kind: "start" };
  if (out !== "") yield { kind: "out", stream: "stdout", bytes: Buffer.from(out) };
  yield { kind: "end", reason: "exit", code: 0, durationMs: 0 };
}

/** A table in a store that can be away. */
class FailingTable<Record> extends MemoryTable<Record> {
  /** How many of the next reads and changes fail. */
  failures = 0;

  override async get(...given: Parameters<MemoryTable<Record>["get"]>) {
    this.#fail();
    return await super.get(...given);
  }

  override async create(...given: Parameters<MemoryTable<Record>["create"]>) {
    this.#fail();
    return await super.create(...given);
  }

  override async update(...given: Parameters<MemoryTable<Record>["update"]>) {
    this.#fail();
    return await super.update(...given);
  }

  #fail(): void {
    if (this.failures === 0) return;
    this.failures--;
    throw storeUnavailable();
  }
}

/** Toolhosts in memory over one store. */
export class MemoryHosts {
  readonly records = new FailingTable<WorkspaceRecord>();
  readonly snapshots = new MemoryObjects({ maxBytes: 1_000_000 });
  readonly artifacts = new MemoryArtifactStore({ maxBytes: 1_000_000 });
  /** The index of runs, and their logs. */
  readonly listed = new Map<string, RunLiveness>();
  readonly runs = memoryRunLog();
  readonly threads = memoryThreadLog();
  readonly liveness = logLiveness(this);
  readonly deletedTenants = new Set<string>();
  readonly #keepers = new Map<string, WorkspaceKeeper>();
  /** Jumps over every delay before the store is tried again. */
  readonly clock = new HastyClock();
  /** The time of all hosts. */
  nowMs = 1_000_000_000_000;

  readonly stateOfRun: WorkspacePorts["stateOfRun"] = (_, runId) =>
    Promise.resolve(this.listed.get(runId) ?? "unknown");

  /** Returns a host with its own storage, which saves only when it is asked. A host that was killed does not reply. */
  host(name: string, limits: Partial<WorkspaceLimits> = {}) {
    return this.hostAt(new MemoryStorage(`storage-${name}`), name, limits);
  }

  /** Returns a host on the given storage. */
  hostAt<Storage extends WorkspaceStorage>(
    storage: Storage,
    name: string,
    limits: Partial<WorkspaceLimits> = {},
  ) {
    const ports: WorkspacePorts = {
      records: this.records,
      snapshots: this.snapshots,
      storage,
      artifacts: this.artifacts,
      host: name,
      stateOfRun: this.stateOfRun,
      hasOpenRun: (key, signal) => hasOpenRun(key, this, signal),
      isTenantDeleted: (tenant) => Promise.resolve(this.deletedTenants.has(tenant)),
      peers: {
        release: async (other, { onlyAsk, ...key }) => {
          const keeper = this.#keepers.get(other);
          if (keeper === undefined) return "silent";
          return (await keeper.release(key, onlyAsk)) ? "released" : "busy";
        },
      },
      limits: {
        bytes: 100_000,
        files: 100,
        saveAfterMs: 3_600_000,
        keepMs: 3_600_000,
        snapshots: 100,
        retentionMs: 7 * 86_400_000,
        ...limits,
      },
      log: createLogger("test", "silent"),
      now: () => this.nowMs,
      clock: this.clock,
    };
    const keeper = new WorkspaceKeeper(ports);
    this.#keepers.set(name, keeper);
    return { keeper, ports, storage };
  }

  kill(name: string): void {
    this.#keepers.delete(name);
  }

  async record(id = "run_1"): Promise<WorkspaceRecord | undefined> {
    return (await this.records.get(`acme.${id}`, never))?.record;
  }
}

let calls = 0;

/** Returns the request of a call for the workspace of a run. */
export function requestOf(tool = "write_file", callId = `call-${++calls}`) {
  return {
    tenant: "acme",
    id: "run_1",
    runId: "run_1",
    callId,
    tool,
    files: [],
    stagedFor: "run_1",
  };
}

/** Runs a command in a workspace, and returns its output. */
export async function does(
  { sandbox }: OpenWorkspace,
  ...argv: readonly ["write", string, string] | readonly ["read", string]
): Promise<string> {
  const limits = { ...defaultLimits, timeoutMs: 1_000 };
  const { text } = await collect(sandbox, { argv, limits, readOnly: argv[0] === "read" }, never);
  return text("stdout");
}
