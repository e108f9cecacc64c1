import type {
  ExecEvent,
  Sandbox,
  SandboxCommand,
  SandboxDriver,
  SandboxSession,
  SessionSpec,
} from "../port.ts";
import { TaskSet } from "@reeve/platform/async/task-set";
import { SandboxGone } from "../agent/sandbox-gone.ts";
import { skillsMountPointOf } from "../host/skills-mount.ts";
import { measureStart } from "./sandbox-metrics.ts";

/** Commands after which a sandbox is replaced, so that their leftovers cannot accumulate forever. */
export const maxCommands = 1_000;

export interface WarmSandboxesOptions {
  /** How long an idle sandbox is kept for another command. */
  readonly idleMs: number;
  /** How many idle sandboxes are kept, over all workspaces. */
  readonly maxIdle: number;
}

interface Idle {
  readonly key: string;
  readonly workspaceDir: string;
  readonly session: SandboxSession;
  readonly timer: NodeJS.Timeout;
}

/**
 * Keeps idle sandboxes for the next command in the same workspace. A sandbox is never used for another workspace. Any number
 * of commands run at a time, each in its own sandbox.
 */
export class WarmSandboxes implements AsyncDisposable {
  readonly #driver: SandboxDriver;
  readonly #options: WarmSandboxesOptions;
  /** Oldest first. */
  readonly #idle = new Set<Idle>();
  readonly #commands = new WeakMap<SandboxSession, number>();
  readonly #ending = new TaskSet();
  #isDisposed = false;

  constructor(driver: SandboxDriver, options: WarmSandboxesOptions) {
    this.#driver = driver;
    this.#options = options;
  }

  /** Name of the isolation. */
  get isolation(): string {
    return this.#driver.name;
  }

  /** How many sandboxes wait for another command at present. */
  get waiting(): number {
    return this.#idle.size;
  }

  /** Returns a sandbox whose workspace is a folder. Starts no process yet. */
  sandboxFor(workspaceDir: string): Sandbox {
    return {
      isolation: this.#driver.name,
      exec: (command, signal) => this.#exec(workspaceDir, command, signal),
    };
  }

  /** Ends the idle sandboxes that use a folder. */
  async endIdle(workspaceDir: string): Promise<void> {
    const over = [...this.#idle].filter((idle) => idle.workspaceDir === workspaceDir);
    const taken = over.filter((idle) => this.#take(idle));
    await Promise.all(taken.map(({ session }) => this.#end(session)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const idle of this.#idle) this.#drop(idle);
    await this.#ending.settled();
  }

  async *#exec(
    workspaceDir: string,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    const { readOnly = false, limits, network, skillsDir } = command;
    const { memoryBytes, processes } = limits;
    const spec: SessionSpec = {
      workspaceDir,
      readOnly,
      memoryBytes,
      processes,
      ...(network && { network: network.allow }),
      ...(skillsDir !== undefined && { skillsDir }),
    };
    const key = JSON.stringify(spec);
    signal.throwIfAborted();
    yield { kind: "start" };
    const began = performance.now();
    for (;;) {
      const startMs = performance.now();
      const warm = await this.#takeWarm(key, workspaceDir);
      const session = warm ?? (await this.#openCold(spec, signal));
      if (session !== undefined) {
        measureStart(warm === undefined ? "cold" : "warm", performance.now() - startMs);
      }
      if (session === undefined || signal.aborted) {
        if (session !== undefined) void this.#end(session);
        const durationMs = performance.now() - began;
        return yield { kind: "end", reason: "cancelled", code: undefined, durationMs };
      }
      try {
        for await (const event of session.exec(command, signal)) {
          if (event.kind !== "start") yield event;
        }
        return;
      } catch (error) {
        // A sandbox that ended while it was idle does not fail the command, which has not started.
        if (warm === undefined || signal.aborted || !(error instanceof SandboxGone)) throw error;
      } finally {
        // A cancelled call usually means a cancelled run, which sends no more commands.
        if (signal.aborted) void this.#end(session);
        else this.#keep({ key, workspaceDir }, session);
      }
    }
  }

  /** Starts a sandbox. Returns undefined if the signal aborts first. */
  async #openCold(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession | undefined> {
    try {
      return await this.#driver.open(spec, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** Takes an idle sandbox that can run another command. */
  async #takeWarm(key: string, workspaceDir: string): Promise<SandboxSession | undefined> {
    for (const idle of [...this.#idle].toReversed()) {
      if (idle.key !== key || !this.#take(idle)) continue;
      const { session } = idle;
      if ((await session.settled()) && hasSkillsInPlace(session, workspaceDir)) return session;
      void this.#end(session);
    }
    return undefined;
  }

  #keep(of: Pick<Idle, "key" | "workspaceDir">, session: SandboxSession): void {
    const commands = (this.#commands.get(session) ?? 0) + 1;
    this.#commands.set(session, commands);
    if (this.#isDisposed || commands >= maxCommands) return void this.#end(session);
    const timer = setTimeout(() => this.#drop(idle), this.#options.idleMs);
    timer.unref();
    const idle: Idle = { ...of, session, timer };
    this.#idle.add(idle);
    void session.settled().then((isFit) => (isFit ? undefined : this.#drop(idle)));
    const [oldest] = this.#idle;
    if (this.#idle.size > this.#options.maxIdle && oldest !== undefined) this.#drop(oldest);
  }

  #take(idle: Idle): boolean {
    clearTimeout(idle.timer);
    return this.#idle.delete(idle);
  }

  #drop(idle: Idle): void {
    if (this.#take(idle)) void this.#end(idle.session);
  }

  #end(session: SandboxSession): Promise<void> {
    return this.#ending.add(Promise.resolve(session[Symbol.asyncDispose]()).catch(() => undefined));
  }
}

/** Whether the folder over which a sandbox has skills was not replaced, not even while the sandbox started. */
function hasSkillsInPlace({ skillsMountPoint }: SandboxSession, workspaceDir: string): boolean {
  return skillsMountPoint === undefined || skillsMountPoint === skillsMountPointOf(workspaceDir);
}
