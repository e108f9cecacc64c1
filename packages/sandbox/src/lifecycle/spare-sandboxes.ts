import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { sleep } from "@reeve/platform/async/sleep";
import { TaskSet } from "@reeve/platform/async/task-set";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type {
  ProbeReport,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import type { Identity } from "../host/identity.ts";
import { SpareFolders } from "../host/spare-folders.ts";
import { makeWorkspaceDir } from "../host/workspace-folder.ts";

/** Delay before a replacement starts, so that it does not compete with the call that took the spare. */
const replaceDelayMs = 20;
const checkIntervalMs = 10_000;
/** How long a spare may take to start. One that takes longer is replaced. */
const defaultStartMs = 30_000;
/** An agent that hears nothing ends itself after 15 minutes; a spare is replaced long before that. */
const maxAgeMs = 300_000;
const retryDelays = { firstDelayMs: 1_000, maxDelayMs: 60_000 };

type SpareSpec = Omit<SessionSpec, "workspaceDir">;

export interface SpareSandboxesOptions {
  /** How many spares to keep. */
  readonly count: number;
  /** Spec of the spares. A sandbox with another spec is started on demand. */
  readonly spec: SpareSpec;
  /** Folder of their empty workspaces, on the file system of the workspaces. */
  readonly folder: string;
  readonly identity: Identity;
  /** How long a spare may take to start, in milliseconds. Default: 30,000. */
  readonly startMs?: number;
  readonly log: Pick<Logger, "warn">;
}

interface Spare {
  readonly session: SandboxSession;
  readonly spec: { workspaceDir: string };
  readonly startedMs: number;
}

/**
 * Starts sandboxes in advance for new workspaces. Each spare has an empty folder, which is renamed to the workspace of the
 * first run that needs one. A spare is used once. Sandboxes for existing workspaces are started on demand.
 */
export class SpareSandboxes implements SandboxDriver, AsyncDisposable {
  readonly name: string;
  readonly #driver: SandboxDriver;
  readonly #options: SpareSandboxesOptions;
  readonly #folders: SpareFolders;
  /** Oldest first. */
  readonly #spares: Spare[] = [];
  readonly #end = new AbortController();
  readonly #refilling: Promise<void>;
  readonly #taken = new Wakeup();
  readonly #discarding = new TaskSet();

  constructor(driver: SandboxDriver, options: SpareSandboxesOptions) {
    this.name = driver.name;
    this.#driver = driver;
    this.#options = options;
    this.#folders = new SpareFolders(options.folder, options.identity);
    this.#refilling = this.#refill(this.#end.signal);
  }

  /** How many spares wait at present. */
  get waiting(): number {
    return this.#spares.length;
  }

  probe(signal: AbortSignal): Promise<ProbeReport> {
    return this.#driver.probe(signal);
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted();
    const { workspaceDir, ...rest } = spec;
    const isSameSpec = isDeepStrictEqual(definedOf(rest), definedOf(this.#options.spec));
    const fitsSpare = isSameSpec && !existsSync(workspaceDir);
    const spare = fitsSpare ? await this.#take(workspaceDir, signal) : undefined;
    if (spare !== undefined) return spare;
    makeWorkspaceDir(workspaceDir, this.#options.identity);
    return await this.#driver.open(spec, signal);
  }

  async list(signal: AbortSignal): Promise<readonly SessionRecord[]> {
    return [...(await this.#driver.list(signal)), ...(await this.#folders.list())];
  }

  async destroy(sessionId: string, signal: AbortSignal): Promise<void> {
    if (!(await this.#folders.destroy(sessionId))) await this.#driver.destroy(sessionId, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the spare sandboxes are disposed", "AbortError"));
    await this.#refilling;
    for (const spare of this.#spares.splice(0)) void this.#discard(spare);
    await this.#discarding.settled();
  }

  /** Takes a spare and renames its folder to the workspace. Undefined if no spare is left or the workspace exists. */
  async #take(workspaceDir: string, signal: AbortSignal): Promise<SandboxSession | undefined> {
    for (;;) {
      signal.throwIfAborted();
      const spare = this.#spares.shift();
      if (spare === undefined) return undefined;
      this.#taken.notify();
      if (!(await this.#isUsable(spare, signal).catch(() => false))) {
        void this.#discard(spare);
        continue;
      }
      const outcome = await this.#assign(spare, workspaceDir);
      if (outcome === "workspace exists") this.#spares.unshift(spare);
      return outcome === "assigned" ? spare.session : undefined;
    }
  }

  /** Whether a spare has started, which it may still do, and has not ended. Rejects if the signal aborts. */
  async #isUsable({ session }: Spare, signal: AbortSignal): Promise<boolean> {
    const { startMs = defaultStartMs } = this.#options;
    const settled = session.settled();
    return (await settledWithin(settled, startMs, signal)) && (await settled);
  }

  /** Renames the folder of a spare. A spare whose folder cannot be renamed is useless and is discarded. */
  async #assign(
    spare: Spare,
    workspaceDir: string,
  ): Promise<"assigned" | "workspace exists" | "discarded"> {
    try {
      const isMoved = await this.#folders.moveTo(spare.spec.workspaceDir, workspaceDir);
      if (!isMoved) return "workspace exists";
    } catch (error) {
      this.#options.log.warn(
        { err: error, workspaceDir },
        "cannot use a spare sandbox; starting a new one",
      );
      void this.#discard(spare);
      return "discarded";
    }
    spare.spec.workspaceDir = workspaceDir;
    return "assigned";
  }

  async #refill(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(retryDelays);
    while (!signal.aborted) {
      await this.#replaceOld(signal).catch(() => undefined);
      try {
        while (this.#spares.length < this.#options.count) await this.#add(signal);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) break;
        const retryMs = backoff.next();
        this.#options.log.warn({ err: error, retryMs }, "cannot start a spare sandbox");
        await sleep(retryMs, signal).catch(() => undefined);
        continue;
      }
      await this.#untilTaken(signal);
    }
  }

  /** Waits until a spare is taken and its call has started, or until the next periodic check. */
  async #untilTaken(signal: AbortSignal): Promise<void> {
    await this.#taken.waitFor(checkIntervalMs, signal).catch(() => undefined);
    await sleep(replaceDelayMs, signal).catch(() => undefined);
  }

  async #add(signal: AbortSignal): Promise<void> {
    const workspaceDir = this.#folders.make();
    const spec = { ...this.#options.spec, workspaceDir };
    try {
      const session = await this.#driver.open(spec, signal);
      this.#spares.push({ session, spec, startedMs: performance.now() });
    } catch (error) {
      await this.#folders.remove(workspaceDir);
      throw error;
    }
  }

  /** Discards spares that have ended, do not start, or have waited too long. Rejects if the signal aborts. */
  async #replaceOld(signal: AbortSignal): Promise<void> {
    const before = this.#spares.slice();
    for (const spare of before) {
      const isUsable = await this.#isUsable(spare, signal);
      if (isUsable && performance.now() - spare.startedMs < maxAgeMs) continue;
      const at = this.#spares.indexOf(spare);
      // A run took it meanwhile.
      if (at < 0) continue;
      this.#spares.splice(at, 1);
      await this.#discard(spare);
    }
  }

  #discard({ session, spec }: Spare): Promise<void> {
    const discard = async () => {
      await Promise.resolve(session[Symbol.asyncDispose]()).catch(() => undefined);
      await this.#folders.remove(spec.workspaceDir);
    };
    return this.#discarding.add(discard());
  }
}

/** Returns the properties that are not undefined. */
function definedOf(spec: SpareSpec): object {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
}
