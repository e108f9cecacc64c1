import type { Thread, ThreadMessage } from "#contracts/thread";
import type { CallOptions, ListOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** The threads of a tenant: conversations that consist of runs. */
export class Threads {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Lists threads, most recently changed first. */
  list(options: ListOptions = {}): AsyncGenerator<Thread, void, undefined> {
    return this.#requests.list(async ({ threads }, page, call) => {
      const { threads: items, nextPageToken } = await threads.listThreads(page, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Lists the messages of a thread, oldest first. */
  messages(
    threadId: string,
    options: ListOptions = {},
  ): AsyncGenerator<ThreadMessage, void, undefined> {
    return this.#requests.list(async ({ threads }, page, call) => {
      const request = { threadId, ...page };
      const { messages: items, nextPageToken } = await threads.listThreadMessages(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Deletes a thread that has no active run. Its runs remain. Not repeated if the connection breaks. */
  async delete(threadId: string, options: CallOptions = {}): Promise<void> {
    await this.#requests.once(
      ({ threads }, call) => threads.deleteThread({ threadId }, call),
      options,
    );
  }
}
