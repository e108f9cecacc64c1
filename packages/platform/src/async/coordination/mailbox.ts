import { Wakeup } from "./wakeup.ts";

/** A bounded queue of messages from many senders to one reader, who takes all of them at a time. Disposing closes it. */
export class Mailbox<Message> implements Disposable {
  readonly #maxMessages: number;
  readonly #posted = new Wakeup();
  #messages: Message[] = [];
  #isClosed = false;

  /** `maxMessages` may be Infinity where the senders bound what they post. */
  constructor(maxMessages: number) {
    this.#maxMessages = maxMessages;
  }

  /** How many messages wait for the reader. */
  get size(): number {
    return this.#messages.length;
  }

  /** Adds a message. Returns false, and drops the message, when the mailbox is full or closed. */
  post(message: Message): boolean {
    if (this.#isClosed || this.#messages.length >= this.#maxMessages) return false;
    this.#messages.push(message);
    this.#posted.notify();
    return true;
  }

  /** Takes the messages that wait now, oldest first. Returns an empty list when there are none. */
  drain(): readonly Message[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /**
   * Takes the messages that wait, oldest first, and waits for the first. Returns an empty list only when the mailbox is closed
   * and empty. Rejects with the signal's reason; the messages then stay.
   */
  async take(signal: AbortSignal): Promise<readonly Message[]> {
    signal.throwIfAborted();
    while (this.#messages.length === 0 && !this.#isClosed) await this.#posted.wait(signal);
    return this.drain();
  }

  /** Listens to the signal of many `take`s, until the returned object is disposed. Saves a listener for each. */
  bind(signal: AbortSignal): Disposable {
    return this.#posted.bind(signal);
  }

  /** Refuses further messages. Those that wait can still be taken. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#posted.notify();
  }
}
