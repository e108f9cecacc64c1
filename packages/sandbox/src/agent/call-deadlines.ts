/** How long a sandbox may take to begin a command. */
const startMs = 20_000;
/** How long an agent may take to end one. */
const stopMs = 3_000;
/** An agent says something every few seconds while a command runs. */
const silenceMs = 60_000;

export interface DeadlineHandlers {
  /** The command has used up its time. */
  onTimeout(): void;
  /** The agent does not answer any more. */
  onUnresponsive(): void;
}

/** How long is waited for a command and for its agent. */
export class CallDeadlines implements Disposable {
  readonly #waits: DeadlineHandlers;
  #silence: NodeJS.Timeout;
  #timeout: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(waits: DeadlineHandlers) {
    this.#waits = waits;
    this.#silence = setTimeout(() => waits.onUnresponsive(), startMs);
  }

  begun(timeoutMs: number): void {
    this.#timeout = setTimeout(() => this.#waits.onTimeout(), timeoutMs);
    this.#await(silenceMs);
  }

  heard(): void {
    // An agent that is to end a command is not waited for longer because of what the command still says.
    if (!this.#isStopping) this.#silence.refresh();
  }

  stopping(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#await(stopMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timeout);
    clearTimeout(this.#silence);
  }

  #await(ms: number): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#waits.onUnresponsive(), ms);
  }
}
