import { randomBytes } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { Limiter } from "@reeve/platform/async/limiter";
import type { ExecEvent, Sandbox, SandboxCommand, SandboxDriver, SandboxSession } from "../port.ts";
import type { StoredWorkspace, WorkspaceStorage } from "./workspace-storage.ts";

/** The session that has a workspace, one command at a time. */
interface WorkspaceSession {
  readonly turns: Limiter;
  session?: SandboxSession;
}

/**
 * Workspaces inside of sandboxes, one session for each: made empty with the first command, and gone with its session. What
 * is lost so is in the last snapshot, or told of.
 */
export class SessionWorkspaceStorage implements WorkspaceStorage, AsyncDisposable {
  /** Nothing of it outlives this process. */
  readonly id = `session-${randomBytes(12).toString("hex")}`;
  readonly isolation: string;
  readonly idleMs: number;
  readonly #driver: SandboxDriver;
  readonly #kept = new Map<string, WorkspaceSession>();

  constructor(driver: SandboxDriver, { idleMs }: { readonly idleMs: number }) {
    this.#driver = driver;
    this.isolation = driver.name;
    this.idleMs = idleMs;
  }

  has(tenant: string, folder: string): boolean {
    return this.#kept.has(`${tenant}/${folder}`);
  }

  isEmpty(tenant: string, folder: string): Promise<boolean> {
    const kept = this.#kept.get(`${tenant}/${folder}`);
    return Promise.resolve(kept !== undefined && kept.session === undefined);
  }

  sandbox(tenant: string, folder: string): Sandbox {
    const name = `${tenant}/${folder}`;
    const kept = this.#kept.get(name) ?? { turns: new Limiter(1) };
    this.#kept.set(name, kept);
    return {
      isolation: this.isolation,
      exec: (command, signal) => this.#exec(name, kept, command, signal),
    };
  }

  async remove(tenant: string, folder: string): Promise<void> {
    const name = `${tenant}/${folder}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) await this.#end(name, kept);
  }

  /** There are no folders but those of sessions, which end by themselves. */
  list(): Promise<readonly StoredWorkspace[]> {
    return Promise.resolve([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#kept].map(([name, kept]) => this.#end(name, kept)));
  }

  async *#exec(
    name: string,
    kept: WorkspaceSession,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    if (command.readOnly === true && isForeign(command)) throw this.#writable();
    if (command.network !== undefined && command.network.allow.length > 0) throw this.#closed();
    yield { kind: "start" };
    const began = performance.now();
    try {
      yield* this.#run(name, kept, command, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const durationMs = performance.now() - began;
      yield { kind: "end", reason: "cancelled", code: undefined, durationMs };
    }
  }

  /** Throws when `signal` aborts before the command has begun. */
  async *#run(
    name: string,
    kept: WorkspaceSession,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    using _ = await kept.turns.take(signal);
    // Another session would be an empty workspace.
    if (this.#kept.get(name) !== kept) throw gone();
    const { memoryBytes, processes } = command.limits;
    const spec = { workspaceDir: name, readOnly: false, memoryBytes, processes };
    kept.session ??= await this.#driver.open(spec, signal);
    try {
      for await (const event of kept.session.exec(command, signal)) {
        if (event.kind !== "start") yield event;
      }
    } finally {
      if (!(await kept.session.settled())) await this.#end(name, kept);
    }
  }

  async #end(name: string, kept: WorkspaceSession): Promise<void> {
    if (this.#kept.get(name) === kept) this.#kept.delete(name);
    await kept.session?.[Symbol.asyncDispose]();
  }

  #closed(): Failure {
    const problem = `sandboxes of ${this.isolation} have no way to the network; leave deep_agent.network out of the agent, or have it run where docker or bubblewrap isolates`;
    return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, problem);
  }

  #writable(): Failure {
    const problem = `sandboxes of ${this.isolation} cannot keep the workspace read-only while other programs than the file tools run; leave read_only out of the agent, or its code and terminal tools`;
    return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, problem);
  }
}

/** Whether code runs that is not ours: our file programs write nothing when they are not to. */
function isForeign({ program }: SandboxCommand): boolean {
  return program === undefined || program === "execute_code";
}

function gone(): Failure {
  const problem =
    "the sandbox that had the workspace is gone; call again to have it from its last snapshot";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
