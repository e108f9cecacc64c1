import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { Failure } from "@reeve/platform/failure";
import type { NetworkUse } from "@reeve/sandbox/port";
import type { BrowserProcess } from "./browser-process.ts";
import type { GuardedPage, PageOutcome } from "./guarded-page.ts";

const defaultIdleMs = 5 * 60_000;
const defaultKeptMs = 30_000;
/** How long the question may take whether a run is over. */
const askMs = 3_000;

/** An agent of a run, and what its calls may reach. */
export interface SessionOwner {
  readonly tenant: string;
  /** The delegate that works. Empty: the agent of the run does. */
  readonly delegateId: string;
  readonly network: NetworkUse;
}

export interface BrowserSessionsOptions {
  /** How many browsers run at a time. */
  readonly max: number;
  /** How long a browser waits for the next call of its run. Default: five minutes. */
  readonly idleMs?: number;
  /** How long an idle browser is kept from other runs of its tenant that need one. Default: 30 seconds. */
  readonly keptMs?: number;
  /** Whether nothing more happens for a run. */
  isRunOver(
    run: { readonly tenant: string; readonly run: string },
    signal: AbortSignal,
  ): Promise<boolean>;
  start(network: NetworkUse, signal: AbortSignal): Promise<BrowserProcess>;
}

interface Session {
  readonly key: string;
  readonly tenant: string;
  readonly run: string;
  readonly hosts: string;
  readonly mutex: Semaphore;
  readonly starting: Promise<BrowserProcess>;
  timer: NodeJS.Timeout | undefined;
  /** How many calls use it, or wait for it. */
  uses: number;
  idleSinceMs: number;
  ending: Promise<void> | undefined;
}

/**
 * The browsers of a toolhost: at most one for each agent of a run, and of no tenant more than half of them. One that is idle, lost, or
 * whose agent may reach other hosts than before ends. If there are too many, so do those of runs that are over, or else the one of the
 * tenant that has been idle for longest. Disposing ends all.
 */
export class BrowserSessions implements AsyncDisposable {
  readonly #options: BrowserSessionsOptions;
  /** Those that can be used. */
  readonly #sessions = new Map<string, Session>();
  /** All whose processes may still exist. */
  readonly #live = new Set<Session>();

  constructor(options: BrowserSessionsOptions) {
    this.#options = options;
  }

  /** How many browsers can be used now. */
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
    if (known !== undefined && known.hosts !== hostsOf(owner)) await this.#end(known);
    if (!this.#sessions.has(keyOf(owner))) await this.#makeRoom(owner.tenant, signal);
    const session = this.#sessions.get(keyOf(owner)) ?? this.#start(owner, signal);
    return await this.#use(session, owner, { use, signal });
  }

  /** Uses the browser that a run has. */
  async continue<Value>(
    owner: SessionOwner,
    use: Use<Value>,
    signal: AbortSignal,
  ): Promise<Outcome<Value>> {
    const session = this.#sessions.get(keyOf(owner));
    if (session === undefined) return lost("this agent of the run has no open page");
    if (session.hosts !== hostsOf(owner)) {
      await this.#end(session);
      return lost("the agent may reach other hosts than when the page was opened");
    }
    return await this.#use(session, owner, { use, signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#live].map((session) => this.#end(session)));
  }

  #isFull(tenant: string): boolean {
    const { max } = this.#options;
    const ofTenant = [...this.#live].filter((each) => each.tenant === tenant);
    return this.#live.size >= max || ofTenant.length >= Math.ceil(max / 2);
  }

  /** Ends browsers that nobody needs, if there are too many for another one of a tenant. */
  async #makeRoom(tenant: string, signal: AbortSignal): Promise<void> {
    if (!this.#isFull(tenant)) return;
    await abortable(this.#endOver(signal), signal);
    if (!this.#isFull(tenant)) return;
    const { keptMs = defaultKeptMs } = this.#options;
    const [oldest] = [...this.#live]
      .filter((each) => each.tenant === tenant && each.uses === 0)
      .filter(({ idleSinceMs }) => performance.now() - idleSinceMs >= keptMs)
      .toSorted((one, other) => one.idleSinceMs - other.idleSinceMs);
    if (oldest !== undefined) await abortable(this.#end(oldest), signal);
  }

  /** Ends the idle browsers of runs that are over, and waits for those that end already. */
  async #endOver(signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(askMs)]);
    const isOver = async ({ tenant, run }: Session): Promise<boolean> =>
      await this.#options.isRunOver({ tenant, run }, until).catch(() => false);
    const ended = [...this.#live].map(async (session) => {
      if (session.ending !== undefined) return await session.ending;
      if (session.uses > 0 || !(await isOver(session))) return;
      // A call that has begun to use it meanwhile keeps it.
      if (session.uses === 0) await this.#end(session);
    });
    await Promise.all(ended);
  }

  #start(owner: SessionOwner, signal: AbortSignal): Session {
    if (this.#isFull(owner.tenant)) throw busy();
    const session: Session = {
      key: keyOf(owner),
      tenant: owner.tenant,
      run: owner.network.runId,
      hosts: hostsOf(owner),
      mutex: new Semaphore(1),
      starting: this.#options.start(owner.network, signal),
      timer: undefined,
      uses: 0,
      idleSinceMs: performance.now(),
      ending: undefined,
    };
    this.#sessions.set(session.key, session);
    this.#live.add(session);
    const end = () => void this.#end(session);
    session.starting.then(({ ended }) => ended.then(end), end);
    return session;
  }

  async #use<Value>(
    session: Session,
    { network }: SessionOwner,
    { use, signal }: Operation<Value>,
  ): Promise<Outcome<Value>> {
    clearTimeout(session.timer);
    session.uses++;
    try {
      using _ = await session.mutex.acquire(signal);
      return await this.#operate(session, network, { use, signal });
    } finally {
      session.uses--;
      session.idleSinceMs = performance.now();
      if (session.uses === 0 && session.ending === undefined) {
        const { idleMs = defaultIdleMs } = this.#options;
        session.timer = setTimeout(() => void this.#end(session), idleMs).unref();
      }
    }
  }

  async #operate<Value>(
    session: Session,
    network: NetworkUse,
    { use, signal }: Operation<Value>,
  ): Promise<Outcome<Value>> {
    try {
      const { page, renewNetwork } = await session.starting;
      renewNetwork(network);
      const outcome = await use(page, signal);
      if (outcome.kind === "failed" && outcome.isLost) await this.#end(session);
      return outcome;
    } catch (error) {
      // Whatever the page does then, no other call sees it.
      await this.#end(session);
      throw error;
    }
  }

  async #end(session: Session): Promise<void> {
    clearTimeout(session.timer);
    if (this.#sessions.get(session.key) === session) this.#sessions.delete(session.key);
    session.ending ??= this.#dispose(session);
    await session.ending;
  }

  async #dispose(session: Session): Promise<void> {
    try {
      const process = await session.starting.catch(() => undefined);
      await process?.[Symbol.asyncDispose]();
    } finally {
      this.#live.delete(session);
    }
  }
}

interface Operation<Value> {
  readonly use: Use<Value>;
  readonly signal: AbortSignal;
}

type Use<Value> = (page: GuardedPage, signal: AbortSignal) => Promise<PageOutcome<Value>>;
type Outcome<Value> = PageOutcome<Value>;

function keyOf({ tenant, delegateId, network: { runId } }: SessionOwner): string {
  return JSON.stringify([tenant, runId, delegateId]);
}

function hostsOf({ network }: SessionOwner): string {
  return JSON.stringify(network.allow.toSorted());
}

function lost(why: string): Extract<PageOutcome<never>, { kind: "failed" }> {
  const reason = `${why}: a browser ends when it is idle for five minutes, exceeds a limit, is needed by another run, or its toolhost is lost; call browser_open`;
  return { kind: "failed", reason, isLost: false };
}

function busy(): Failure {
  const problem = "busy: all browsers of the toolhost, or of this tenant there, are in use";
  const remedy = "try again in some minutes";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, `${problem}; ${remedy}`);
}
