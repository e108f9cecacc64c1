import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
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

/** How long the call that has taken one has the machine for itself before the next is made. */
const calmMs = 20;
const lookMs = 10_000;
/** An agent that hears nothing ends itself in the end; a spare is replaced long before. */
const maxAgeMs = 300_000;
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

type SpareSpec = Omit<SessionSpec, "workspaceDir">;

export interface SpareSandboxesOptions {
  /** How many wait at a time. */
  readonly count: number;
  /** What they are made for. A sandbox of other wishes is made when it is asked for. */
  readonly spec: SpareSpec;
  /** Where their folders wait: on the file system of the workspaces. */
  readonly folder: string;
  readonly identity: Identity;
  readonly log: Pick<Logger, "warn">;
}

interface Spare {
  readonly session: SandboxSession;
  readonly spec: { workspaceDir: string };
  readonly born: number;
}

/**
 * Makes sandboxes ahead, for workspaces that are not there yet: each waits over an empty folder, which becomes the
 * workspace of the first run that asks. A sandbox is given once. One for a workspace that is there is made as ever.
 */
export class SpareSandboxes implements SandboxDriver, AsyncDisposable {
  readonly name: string;
  readonly #driver: SandboxDriver;
  readonly #options: SpareSandboxesOptions;
  readonly #folders: SpareFolders;
  /** The oldest first. */
  readonly #spares: Spare[] = [];
  readonly #end = new AbortController();
  readonly #keeping: Promise<void>;
  #missed = Promise.withResolvers<void>();

  constructor(driver: SandboxDriver, options: SpareSandboxesOptions) {
    this.name = driver.name;
    this.#driver = driver;
    this.#options = options;
    this.#folders = new SpareFolders(options.folder, options.identity);
    this.#keeping = this.#keep(this.#end.signal);
  }

  /** How many wait at present. */
  get waiting(): number {
    return this.#spares.length;
  }

  probe(signal: AbortSignal): Promise<ProbeReport> {
    return this.#driver.probe(signal);
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted();
    const { workspaceDir, ...wishes } = spec;
    const isUsual = isDeepStrictEqual(stated(wishes), stated(this.#options.spec));
    const isNew = isUsual && !existsSync(workspaceDir);
    const given = isNew ? await this.#given(workspaceDir) : undefined;
    if (given !== undefined) return given;
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
    this.#end.abort(new DOMException("the spare sandboxes end", "AbortError"));
    await this.#keeping;
    await Promise.all(this.#spares.splice(0).map((spare) => this.#discard(spare)));
  }

  /** One that waited, whose folder is the workspace from then on. Undefined: there is none, or the workspace is there. */
  async #given(workspaceDir: string): Promise<SandboxSession | undefined> {
    for (;;) {
      const spare = this.#spares.shift();
      if (spare === undefined) return undefined;
      this.#missed.resolve();
      if (!(await spare.session.settled())) {
        void this.#discard(spare);
        continue;
      }
      const given = await this.#give(spare, workspaceDir);
      if (given === "kept") this.#spares.unshift(spare);
      return given === "given" ? spare.session : undefined;
    }
  }

  /** Kept: the workspace is there. One that cannot be given for another reason is of no use to anybody. */
  async #give(spare: Spare, workspaceDir: string): Promise<"given" | "kept" | "discarded"> {
    try {
      if (!(await this.#folders.moveTo(spare.spec.workspaceDir, workspaceDir))) return "kept";
    } catch (error) {
      this.#options.log.warn({ err: error }, "a spare sandbox cannot be given");
      void this.#discard(spare);
      return "discarded";
    }
    spare.spec.workspaceDir = workspaceDir;
    return "given";
  }

  async #keep(signal: AbortSignal): Promise<void> {
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      this.#missed = Promise.withResolvers();
      await this.#replaceOld();
      try {
        while (this.#spares.length < this.#options.count) await this.#make(signal);
        retryMs = firstRetryMs;
      } catch (error) {
        if (signal.aborted) break;
        this.#options.log.warn({ err: error, retryMs }, "no spare sandbox can be made");
        await wait(retryMs, undefined, { signal }).catch(() => undefined);
        retryMs = Math.min(retryMs * 2, longestRetryMs);
        continue;
      }
      await this.#untilMissed(signal);
    }
  }

  /** Until one was taken, and the call that took it is under way; now and then all the same. */
  async #untilMissed(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    await Promise.race([
      wait(lookMs, undefined, { signal: until }).catch(() => undefined),
      this.#missed.promise,
    ]);
    over.abort();
    await wait(calmMs, undefined, { signal }).catch(() => undefined);
  }

  async #make(signal: AbortSignal): Promise<void> {
    const workspaceDir = this.#folders.make();
    const spec = { ...this.#options.spec, workspaceDir };
    try {
      const session = await this.#driver.open(spec, signal);
      this.#spares.push({ session, spec, born: performance.now() });
    } catch (error) {
      await this.#folders.remove(workspaceDir);
      throw error;
    }
  }

  /** Those that have ended by themselves or wait for long. */
  async #replaceOld(): Promise<void> {
    const before = this.#spares.slice();
    for (const spare of before) {
      const isFit = await spare.session.settled();
      if (isFit && performance.now() - spare.born < maxAgeMs) continue;
      const at = this.#spares.indexOf(spare);
      // Taken meanwhile: it is somebody's.
      if (at < 0) continue;
      this.#spares.splice(at, 1);
      await this.#discard(spare);
    }
  }

  async #discard({ session, spec }: Spare): Promise<void> {
    await Promise.resolve(session[Symbol.asyncDispose]()).catch(() => undefined);
    await this.#folders.remove(spec.workspaceDir);
  }
}

/** Without the wishes that nobody has. */
function stated(wishes: SpareSpec): object {
  return Object.fromEntries(Object.entries(wishes).filter(([, wish]) => wish !== undefined));
}
