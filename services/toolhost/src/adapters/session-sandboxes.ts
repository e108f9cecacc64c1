import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type {
  ExecEvent,
  Sandbox,
  SandboxCommand,
  SandboxDriver,
  SandboxSession,
} from "../ports/sandbox.ts";
import { defaultLimits } from "../ports/sandbox.ts";
import { SandboxGone } from "./agent/sandbox-gone.ts";

interface Kept {
  /** Settles when the commands before are over. */
  turn: Promise<void>;
  session?: SandboxSession | undefined;
  timer?: NodeJS.Timeout;
}

/**
 * One sandbox for each workspace, of a driver whose sandboxes keep their workspaces to themselves. Its commands run one
 * after the other. A workspace that nobody uses for `idleMs` is gone with its sandbox.
 */
export class SessionSandboxes implements AsyncDisposable {
  readonly #driver: SandboxDriver;
  readonly #idleMs: number;
  readonly #kept = new Map<string, Kept>();

  constructor(driver: SandboxDriver, { idleMs }: { readonly idleMs: number }) {
    this.#driver = driver;
    this.#idleMs = idleMs;
  }

  /** The sandbox with a workspace, which begins empty. Nothing runs yet. */
  over(workspaceDir: string): Sandbox {
    return {
      isolation: this.#driver.name,
      exec: (command, signal) => this.#exec(workspaceDir, command, signal),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#kept].map(([name, kept]) => this.#end(name, kept)));
  }

  async *#exec(
    workspaceDir: string,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    signal.throwIfAborted();
    if (command.readOnly === true && isForeign(command)) throw this.#writable();
    const kept = this.#kept.get(workspaceDir) ?? { turn: Promise.resolve() };
    this.#kept.set(workspaceDir, kept);
    const { promise: over, resolve: done } = Promise.withResolvers<void>();
    const before = kept.turn;
    kept.turn = before.then(() => over);
    yield { kind: "start" };
    try {
      await before;
      clearTimeout(kept.timer);
      yield* this.#run(workspaceDir, kept, command, signal);
    } finally {
      if (kept.session !== undefined && !(await kept.session.settled())) {
        await this.#end(workspaceDir, kept);
      }
      kept.timer = setTimeout(() => void this.#end(workspaceDir, kept), this.#idleMs);
      kept.timer.unref();
      done();
    }
  }

  async *#run(
    workspaceDir: string,
    kept: Kept,
    command: SandboxCommand,
    signal: AbortSignal,
  ): AsyncIterable<ExecEvent> {
    const { memoryBytes, processes } = defaultLimits;
    const spec = { workspaceDir, readOnly: false, memoryBytes, processes };
    for (;;) {
      const isNew = kept.session === undefined;
      try {
        kept.session ??= await this.#driver.open(spec, signal);
        for await (const event of kept.session.exec(command, signal)) {
          if (event.kind !== "start") yield event;
        }
        return;
      } catch (error) {
        if (signal.aborted) {
          return yield { kind: "end", reason: "cancelled", code: undefined, durationMs: 0 };
        }
        if (isNew || !(error instanceof SandboxGone)) throw error;
        await kept.session?.[Symbol.asyncDispose]();
        kept.session = undefined;
      }
    }
  }

  async #end(name: string, kept: Kept): Promise<void> {
    clearTimeout(kept.timer);
    if (this.#kept.get(name) === kept) this.#kept.delete(name);
    const { session } = kept;
    kept.session = undefined;
    await session?.[Symbol.asyncDispose]();
  }

  #writable(): Failure {
    const problem = `sandboxes of ${this.#driver.name} cannot keep the workspace read-only while other programs than the file tools run; leave read_only out of the agent, or its code and terminal tools`;
    return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, problem);
  }
}

/** Whether code runs that is not ours: our file programs write nothing when they are not to. */
function isForeign({ program }: SandboxCommand): boolean {
  return program === undefined || program === "execute_code";
}
