import type { BackoffOptions } from "@reeve/platform/async/retry/backoff";
import { delayAfter } from "@reeve/platform/async/retry/backoff";

/** How far a stream was read: what another reader needs in order to continue. */
export interface ReadState {
  /** All messages up to it were processed, without those of `behind` and `aside`. */
  readonly sequence: number;
  /** The tenants whose messages cannot be read, with the sequence after which they were not processed. */
  readonly behind: ReadonlyMap<string, number>;
  /** The sequences of other messages that could not be processed. */
  readonly aside: readonly number[];
}

/** How many tenants and single messages a state names at most. With more, it ends before the first one that it cannot name. */
export const maxNamed = 1_000;

/** When something is tried again, after how many failures. */
interface Waiting {
  readonly failures: number;
  readonly dueMs: number;
}

interface WaitingMessage extends Waiting {
  /** Whether the state names it, so that it does not end before it. */
  readonly isAside: boolean;
}

interface WaitingTenant extends Waiting {
  /** The messages of the tenant after it are not processed. */
  readonly after: number;
  /** The last message of the tenant that was passed. */
  readonly passed: number;
}

/** What is due to be tried again. */
export type DueRetry =
  | { readonly kind: "message"; readonly sequence: number }
  | ({ readonly kind: "tenant"; readonly tenant: string } & Pick<
      WaitingTenant,
      "after" | "passed"
    >);

/**
 * What a reader of a stream has processed, and what it has yet to process. What cannot be processed is tried again at growing
 * intervals, and does not keep what follows it. Times are in milliseconds of one clock.
 */
export class ReadProgress {
  readonly #delays: BackoffOptions;
  /** The messages that are being processed, or could not be. */
  readonly #messages = new Map<number, WaitingMessage>();
  readonly #behind = new Map<string, WaitingTenant>();
  #reached: number;
  /** Nothing is due before it. */
  #nextDueMs = Infinity;

  constructor({ sequence, behind, aside }: ReadState, delays: BackoffOptions) {
    this.#delays = delays;
    this.#reached = sequence;
    for (const [tenant, after] of behind) {
      this.#behind.set(tenant, { after, passed: sequence, ...this.#due(0, 0) });
    }
    for (const each of aside) this.#messages.set(each, { isAside: true, ...this.#due(0, 0) });
  }

  /** Everything up to this sequence was received. */
  get reached(): number {
    return this.#reached;
  }

  /** How many single messages are being processed, or could not be. */
  get waitingMessages(): number {
    return this.#messages.size;
  }

  /** Takes note that everything up to a sequence was received. */
  reach(sequence: number): void {
    this.#reached = Math.max(this.#reached, sequence);
  }

  /** Takes note that a message is being processed. It is due if it is not settled in time. */
  begin(sequence: number, nowMs: number): void {
    const known = this.#messages.get(sequence);
    this.#wait(sequence, known, nowMs, known !== undefined);
  }

  /** Takes note that a message cannot be processed now. */
  setAside(sequence: number, nowMs: number): void {
    this.#wait(sequence, this.#messages.get(sequence), nowMs, true);
  }

  /** Takes note that a message was processed, or need not be. */
  settle(sequence: number): void {
    this.#messages.delete(sequence);
  }

  isBehind(tenant: string): boolean {
    return this.#behind.has(tenant);
  }

  /** Passes a message of a tenant whose messages cannot be read. */
  pass(tenant: string, sequence: number, nowMs: number): void {
    const known = this.#behind.get(tenant);
    const waiting = known ?? { after: sequence - 1, ...this.#due(1, nowMs) };
    // After a restart, what the last process had not finished comes before what it passed.
    const after = Math.min(waiting.after, sequence - 1);
    this.#behind.set(tenant, { ...waiting, after, passed: sequence });
  }

  /**
   * Takes note that the messages of a tenant up to a sequence wait for nothing any more, so that the next ones are due. The tenant
   * is not behind any more when this is the last one that was passed.
   */
  advance(tenant: string, sequence: number, nowMs: number): void {
    const known = this.#behind.get(tenant);
    if (known === undefined) return;
    if (sequence >= known.passed) this.#behind.delete(tenant);
    else this.#behind.set(tenant, { ...known, after: sequence, ...this.#due(0, nowMs) });
  }

  /** Takes note that the messages of a tenant still cannot be read. */
  postpone(tenant: string, nowMs: number): void {
    const known = this.#behind.get(tenant);
    if (known === undefined) return;
    this.#behind.set(tenant, { ...known, ...this.#due(known.failures + 1, nowMs) });
  }

  /** Returns for how many milliseconds nothing is due. */
  quietMs(nowMs: number): number {
    return Math.max(0, this.#nextDueMs - nowMs);
  }

  /** Returns what is due first. Undefined: nothing is due. */
  due(nowMs: number): DueRetry | undefined {
    if (this.#nextDueMs > nowMs) return undefined;
    let next: DueRetry | undefined;
    this.#nextDueMs = Infinity;
    for (const [sequence, { dueMs }] of this.#messages) {
      if (dueMs >= this.#nextDueMs) continue;
      this.#nextDueMs = dueMs;
      next = { kind: "message", sequence };
    }
    for (const [tenant, { dueMs, after, passed }] of this.#behind) {
      if (dueMs >= this.#nextDueMs) continue;
      this.#nextDueMs = dueMs;
      next = { kind: "tenant", tenant, after, passed };
    }
    return this.#nextDueMs <= nowMs ? next : undefined;
  }

  /** Returns how far the stream was read. */
  state(): ReadState {
    const behind = [...this.#behind].map(([tenant, { after }]): [string, number] => [
      tenant,
      after,
    ]);
    const messages = [...this.#messages];
    const aside = messages
      .flatMap(([sequence, { isAside }]) => (isAside ? [sequence] : []))
      .toSorted((a, b) => a - b);
    const open = messages.flatMap(([sequence, { isAside }]) => (isAside ? [] : [sequence]));
    const unnamed = [...open, ...aside.slice(maxNamed, maxNamed + 1)].map((each) => each - 1);
    const ends = [this.#reached, ...unnamed, ...behind.slice(maxNamed).map(([, after]) => after)];
    const sequence = ends.reduce((least, end) => Math.min(least, end));
    return {
      sequence,
      behind: new Map(
        behind.slice(0, maxNamed).map(([tenant, after]) => [tenant, Math.min(after, sequence)]),
      ),
      aside: aside.slice(0, maxNamed).filter((each) => each <= sequence),
    };
  }

  #wait(
    sequence: number,
    known: WaitingMessage | undefined,
    nowMs: number,
    isAside: boolean,
  ): void {
    const failures = (known?.failures ?? 0) + 1;
    this.#messages.set(sequence, { isAside, ...this.#due(failures, nowMs) });
  }

  #due(failures: number, nowMs: number): Waiting {
    const dueMs = failures === 0 ? nowMs : nowMs + delayAfter(failures, this.#delays);
    this.#nextDueMs = Math.min(this.#nextDueMs, dueMs);
    return { failures, dueMs };
  }
}
