/** Time, as a port: the domain has none, and tests make their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `delayMs`; rejects with the signal's reason when it aborts. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}
