import type {
  ExecEvent,
  Sandbox,
  SandboxCommand,
  SandboxDriver,
  SandboxSession,
  SessionSpec,
} from "../port.ts";
import { SandboxGone } from "../agent/sandbox-gone.ts";
import { measureStart } from "./sandbox-metrics.ts";

/** After how many commands a sandbox makes room for a new one: nothing that they leave behind gathers for ever. */
export const maxCommands = 1_000;

export interface WarmSandboxesOptions {
  /** How long a sandbox is kept for another command. */
  readonly idleMs: number;
  /** How many are kept at a time, over all workspaces. */
  readonly maxIdle: number;
}

interface Idle {
  readonly key: string;
  readonly workspaceDir: string;
  readonly session: SandboxSession;
  readonly timer: NodeJS.Timeout;
}

/**
 * Keeps the sandboxes of a workspace for a while, for the next command there. A sandbox never gets another workspace. As
 * many commands as come run at a time, each in a sandbox of its own.
 */
export class WarmSandboxes implements AsyncDisposable {
  readonly #driver: SandboxDriver;
  readonly #options: WarmSandboxesOptions;
  /** The oldest first. */
  readonly #idle = new Set<Idle>();
  readonly #commands = new WeakMap<SandboxSession, number>();
  readonly #ending = new Set<Promise<void>>();
  #isDisposed = false;

  constructor(driver: SandboxDriver, options: WarmSandboxesOptions) {
    this.#driver = driver;
    this.#options = options;
  }

  /** Name of the isolation. */
  get isolation(): string {
    return this.#driver.name;
  }

  /** A sandbox over a folder. Nothing runs yet. */
  sandboxFor(workspaceDir: string): Sandbox {
    return {
      isolation: this.#driver.name,
      exec: (command, signal) => this.#exec(workspaceDir, command, signal),
    };
  }

  /** Ends the sandboxes over a folder that wait for another command. */
  async endIdle(workspaceDir: string): Promise<void> {
    const over = [...this.#idle].filter((idle) => idle.workspaceDir === workspaceDir);
    const taken = over.filter((idle) => this.#take(idle));
    await Promise.all(taken.map(({ session }) => this.#end(session)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const idle of this.#idle) this.#drop(idle);
    await Promise.allSettled(this.#ending);
  }

  async *#exec(
    workspaceDir: string,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    const { readOnly = false, limits, network } = command;
    const { memoryBytes, processes } = limits;
    const spec: SessionSpec = {
      workspaceDir,
      readOnly,
      memoryBytes,
      processes,
      ...(network && { network: network.allow }),
    };
    const key = JSON.stringify(spec);
    signal.throwIfAborted();
    yield { kind: "start" };
    const began = performance.now();
    for (;;) {
      const asked = performance.now();
      const warm = await this.#warm(key);
      const session = warm ?? (await this.#opened(spec, signal));
      if (session !== undefined) {
        measureStart(warm === undefined ? "cold" : "warm", performance.now() - asked);
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
        // A sandbox that went away while nobody used it is no failure of the command, which has not begun.
        if (warm === undefined || signal.aborted || !(error instanceof SandboxGone)) throw error;
      } finally {
        // Who cancels a call mostly cancels its run, after which nothing comes any more.
        if (signal.aborted) void this.#end(session);
        else this.#keep({ key, workspaceDir }, session);
      }
    }
  }

  /** A new one; undefined when nobody waits for it any more. */
  async #opened(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession | undefined> {
    try {
      return await this.#driver.open(spec, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** One that is at rest and fit for another command. */
  async #warm(key: string): Promise<SandboxSession | undefined> {
    for (const idle of [...this.#idle].toReversed()) {
      if (idle.key !== key || !this.#take(idle)) continue;
      if (await idle.session.settled()) return idle.session;
      void this.#end(idle.session);
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
    const ending = Promise.resolve(session[Symbol.asyncDispose]())
      .catch(() => undefined)
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    return ending;
  }
}
