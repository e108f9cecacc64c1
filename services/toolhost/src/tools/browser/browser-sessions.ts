import { ErrorReason } from "@reeve/contracts/error";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { Failure } from "@reeve/platform/failure";
import type { NetworkUse } from "@reeve/sandbox/port";
import type { BrowserProcess } from "./browser-process.ts";
import type { GuardedPage, PageOutcome } from "./guarded-page.ts";

const defaultIdleMs = 5 * 60_000;

/** A run, and what its calls may reach. */
export interface SessionOwner {
  readonly tenant: string;
  readonly network: NetworkUse;
}

export interface BrowserSessionsOptions {
  /** How many browsers run at a time. */
  readonly max: number;
  /** How long a browser waits for the next call of its run. Default: five minutes. */
  readonly idleMs?: number;
  start(network: NetworkUse, signal: AbortSignal): Promise<BrowserProcess>;
}

interface Session {
  readonly tenant: string;
  readonly hosts: string;
  readonly mutex: Semaphore;
  readonly starting: Promise<BrowserProcess>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The browsers of a toolhost: at most one for each run, and of no tenant more than half of them. One that is idle, lost, or whose run
 * may reach other hosts than before ends. Disposing ends all.
 */
export class BrowserSessions implements AsyncDisposable {
  readonly #options: BrowserSessionsOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: BrowserSessionsOptions) {
    this.#options = options;
  }

  /** How many browsers run now. */
  get count(): number {
    return this.#sessions.size;
  }

  /** Uses the browser of a run, which is started if there is none. Throws a Failure if there are too many. */
  async open<Value>(
    owner: SessionOwner,
    use: Use<Value>,
    signal: AbortSignal,
  ): Promise<Outcome<Value>> {
    const known = this.#sessions.get(keyOf(owner));
    if (known !== undefined && known.hosts !== hostsOf(owner)) await this.#end(keyOf(owner), known);
    const session = this.#sessions.get(keyOf(owner)) ?? this.#start(owner, signal);
    return await this.#use(keyOf(owner), session, use, signal);
  }

  /** Uses the browser that a run has. */
  async continue<Value>(
    owner: SessionOwner,
    use: Use<Value>,
    signal: AbortSignal,
  ): Promise<Outcome<Value>> {
    const session = this.#sessions.get(keyOf(owner));
    if (session === undefined) return lost("this run has no open page");
    if (session.hosts !== hostsOf(owner)) {
      await this.#end(keyOf(owner), session);
      return lost("the agent may reach other hosts than when the page was opened");
    }
    return await this.#use(keyOf(owner), session, use, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions].map(([key, session]) => this.#end(key, session)));
  }

  #start(owner: SessionOwner, signal: AbortSignal): Session {
    const { max, start } = this.#options;
    const ofTenant = [...this.#sessions.values()].filter(({ tenant }) => tenant === owner.tenant);
    if (this.#sessions.size >= max || ofTenant.length >= Math.ceil(max / 2)) throw busy();
    const session: Session = {
      tenant: owner.tenant,
      hosts: hostsOf(owner),
      mutex: new Semaphore(1),
      starting: start(owner.network, signal),
      timer: undefined,
    };
    const key = keyOf(owner);
    this.#sessions.set(key, session);
    const end = () => void this.#end(key, session);
    session.starting.then(({ ended }) => ended.then(end), end);
    return session;
  }

  async #use<Value>(
    key: string,
    session: Session,
    use: Use<Value>,
    signal: AbortSignal,
  ): Promise<Outcome<Value>> {
    using _ = await session.mutex.acquire(signal);
    clearTimeout(session.timer);
    try {
      const { page } = await session.starting;
      const outcome = await use(page, signal);
      if (outcome.kind === "failed" && outcome.isLost) await this.#end(key, session);
      return outcome;
    } catch (error) {
      // Whatever the page does then, no other call sees it.
      await this.#end(key, session);
      throw error;
    } finally {
      if (this.#sessions.get(key) === session) {
        const { idleMs = defaultIdleMs } = this.#options;
        session.timer = setTimeout(() => void this.#end(key, session), idleMs).unref();
      }
    }
  }

  async #end(key: string, session: Session): Promise<void> {
    clearTimeout(session.timer);
    if (this.#sessions.get(key) === session) this.#sessions.delete(key);
    const process = await session.starting.catch(() => undefined);
    await process?.[Symbol.asyncDispose]();
  }
}

type Use<Value> = (page: GuardedPage, signal: AbortSignal) => Promise<PageOutcome<Value>>;
type Outcome<Value> = PageOutcome<Value>;

function keyOf({ tenant, network: { runId } }: SessionOwner): string {
  return JSON.stringify([tenant, runId]);
}

function hostsOf({ network }: SessionOwner): string {
  return JSON.stringify(network.allow.toSorted());
}

function lost(why: string): Extract<PageOutcome<never>, { kind: "failed" }> {
  const reason = `${why}: a browser ends when it is idle for five minutes, exceeds a limit, or its toolhost is lost; call browser_open`;
  return { kind: "failed", reason, isLost: false };
}

function busy(): Failure {
  const problem = "busy: all browsers of the toolhost, or of this tenant there, are in use";
  const remedy = "try again in some minutes";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, `${problem}; ${remedy}`);
}
