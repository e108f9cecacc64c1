/** How long a sandbox may take to start a command. */
const startMs = 20_000;
/** How long an agent may take to end a command. */
const stopMs = 3_000;
/** How long an agent may be silent. It sends a message every few seconds while a command runs. */
const agentIdleTimeoutMs = 60_000;

export interface DeadlineHandlers {
  /** The command has reached its time limit. */
  onTimeout(): void;
  /** The agent does not answer. */
  onUnresponsive(): void;
}

/** Watches the time limit of a command, and that its agent answers. */
export class CallDeadlines implements Disposable {
  readonly #handlers: DeadlineHandlers;
  #agentTimer: NodeJS.Timeout;
  #commandTimer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(handlers: DeadlineHandlers) {
    this.#handlers = handlers;
    this.#agentTimer = setTimeout(() => handlers.onUnresponsive(), startMs);
  }

  /** The command has started, with this time limit. */
  commandStarted(timeoutMs: number): void {
    this.#commandTimer = setTimeout(() => this.#handlers.onTimeout(), timeoutMs);
    this.#restart(agentIdleTimeoutMs);
  }

  /** The agent has sent a message. */
  messageReceived(): void {
    // Output of the command must not extend the time that the agent has to end it.
    if (!this.#isStopping) this.#agentTimer.refresh();
  }

  /** The agent was asked to end the command. */
  stopRequested(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#restart(stopMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#commandTimer);
    clearTimeout(this.#agentTimer);
  }

  #restart(ms: number): void {
    clearTimeout(this.#agentTimer);
    this.#agentTimer = setTimeout(() => this.#handlers.onUnresponsive(), ms);
  }
}
