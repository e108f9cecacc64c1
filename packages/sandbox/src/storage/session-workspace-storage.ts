import { randomBytes } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { ExecEvent, Sandbox, SandboxCommand, SandboxDriver, SandboxSession } from "../port.ts";
import type { StoredWorkspace, WorkspaceStorage } from "./workspace-storage.ts";

/** The session that holds a workspace. It runs one command at a time. */
interface WorkspaceSession {
  readonly mutex: Semaphore;
  session?: SandboxSession;
}

/**
 * Stores each workspace inside a sandbox session of its own. The first command starts the session with an empty workspace,
 * and the workspace is lost with its session. Its last snapshot restores it, or the caller reports the loss.
 */
export class SessionWorkspaceStorage implements WorkspaceStorage, AsyncDisposable {
  /** Random, because nothing in this storage outlives the process. */
  readonly id = `session-${randomBytes(12).toString("hex")}`;
  readonly isolation: string;
  readonly idleMs: number;
  readonly #driver: SandboxDriver;
  readonly #held = new Map<string, WorkspaceSession>();

  constructor(driver: SandboxDriver, { idleMs }: { readonly idleMs: number }) {
    this.#driver = driver;
    this.isolation = driver.name;
    this.idleMs = idleMs;
  }

  has(tenant: string, folder: string): boolean {
    return this.#held.has(`${tenant}/${folder}`);
  }

  isEmpty(tenant: string, folder: string): Promise<boolean> {
    const held = this.#held.get(`${tenant}/${folder}`);
    return Promise.resolve(held !== undefined && held.session === undefined);
  }

  sandbox(tenant: string, folder: string): Sandbox {
    const name = `${tenant}/${folder}`;
    const held = this.#held.get(name) ?? { mutex: new Semaphore(1) };
    this.#held.set(name, held);
    return {
      isolation: this.isolation,
      exec: (command, signal) => this.#exec(name, held, command, signal),
    };
  }

  async remove(tenant: string, folder: string): Promise<void> {
    const name = `${tenant}/${folder}`;
    const held = this.#held.get(name);
    if (held !== undefined) await this.#end(name, held);
  }

  /** Returns nothing: workspaces exist only in sessions, which end by themselves. */
  list(): Promise<readonly StoredWorkspace[]> {
    return Promise.resolve([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#held].map(([name, held]) => this.#end(name, held)));
  }

  async *#exec(
    name: string,
    held: WorkspaceSession,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    if (command.readOnly === true && isUntrusted(command)) throw this.#readOnlyUnsupported();
    if (command.network !== undefined && command.network.allow.length > 0) {
      throw this.#networkUnsupported();
    }
    yield { kind: "start" };
    const began = performance.now();
    try {
      yield* this.#run(name, held, command, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const durationMs = performance.now() - began;
      yield { kind: "end", reason: "cancelled", code: undefined, durationMs };
    }
  }

  /** Throws if `signal` aborts before the command has started. */
  async *#run(
    name: string,
    held: WorkspaceSession,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    using _ = await held.mutex.acquire(signal);
    // A new session would have an empty workspace.
    if (this.#held.get(name) !== held) throw sessionGone();
    const { memoryBytes, processes } = command.limits;
    const spec = { workspaceDir: name, readOnly: false, memoryBytes, processes };
    held.session ??= await this.#driver.open(spec, signal);
    try {
      for await (const event of held.session.exec(command, signal)) {
        if (event.kind !== "start") yield event;
      }
    } finally {
      if (!(await held.session.settled())) await this.#end(name, held);
    }
  }

  async #end(name: string, held: WorkspaceSession): Promise<void> {
    if (this.#held.get(name) === held) this.#held.delete(name);
    await held.session?.[Symbol.asyncDispose]();
  }

  #networkUnsupported(): Failure {
    const problem = `${this.isolation} sandboxes have no network; remove deep_agent.network from the agent, or run it on a toolhost with docker or bubblewrap`;
    return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, problem);
  }

  #readOnlyUnsupported(): Failure {
    const problem = `${this.isolation} sandboxes cannot mount the workspace read-only for code and terminal tools; remove read_only or these tools from the agent`;
    return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, problem);
  }
}

/** Returns whether the command runs untrusted code. Our own file programs respect `readOnly` themselves. */
function isUntrusted({ program }: SandboxCommand): boolean {
  return program === undefined || program === "execute_code";
}

function sessionGone(): Failure {
  const problem =
    "the sandbox that held the workspace is gone; call again to restore its last snapshot";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
