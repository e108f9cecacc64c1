import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import type { PageSource } from "./page-text.ts";
import type { ReadPage } from "./read-page.ts";
import { readPage } from "./read-page.ts";

interface PageReadersOptions {
  /** How many pages are read at a time. Default: 2. A tenant has at most half of them, rounded up. */
  readonly pages?: number;
  /** How long a page waits for its turn. Default: ten seconds. */
  readonly waitMs?: number;
}

const defaultPages = 2;
const defaultWaitMs = 10_000;
const maxRuns = 10_000;
const maxWaiting = 4;
const busy: ReadPage = {
  kind: "failed",
  reason: "busy: too many pages are being read now; try again in some seconds",
};

/** Reads one page of each run at a time, and of no tenant so many that others wait for long. */
export class PageReaders {
  readonly #runs = new KeyedSemaphore({
    permits: maxRuns,
    permitsPerKey: 1,
    maxWaitingPerKey: maxWaiting,
  });
  readonly #tenants: KeyedSemaphore;
  readonly #waitMs: number;

  constructor({ pages = defaultPages, waitMs = defaultWaitMs }: PageReadersOptions = {}) {
    this.#tenants = new KeyedSemaphore({
      permits: pages,
      permitsPerKey: Math.ceil(pages / 2),
      maxWaitingPerKey: maxWaiting,
    });
    this.#waitMs = waitMs;
  }

  /** Reads a page as `readPage` does, once it is its turn. A page that does not get it soon fails, and says that it may be retried. */
  async read(source: PageSource, of: PageOwner, signal: AbortSignal): Promise<ReadPage> {
    const late = AbortSignal.timeout(this.#waitMs);
    try {
      using permit = await this.#permit(of, AbortSignal.any([signal, late]));
      return permit === undefined ? busy : await readPage(source, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error === late.reason) return busy;
      throw error;
    }
  }

  async #permit(
    { tenant, runId }: PageOwner,
    signal: AbortSignal,
  ): Promise<Disposable | undefined> {
    using held = new DisposableStack();
    const ofRun = await this.#runs.acquire(runId, signal);
    if (ofRun === undefined) return undefined;
    held.use(ofRun);
    const ofTenant = await this.#tenants.acquire(tenant, signal);
    if (ofTenant === undefined) return undefined;
    held.use(ofTenant);
    return held.move();
  }
}

/** For whom a page is read. */
export interface PageOwner {
  readonly tenant: string;
  readonly runId: string;
}
