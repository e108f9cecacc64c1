import type { AgentChannel } from "./agent-channel.ts";
import type { Frame } from "./frames.ts";
import { FrameReader, frameOf } from "./frames.ts";

/** Receives the frames of an agent. */
export interface AgentListener {
  onFrame(frame: Frame): void;
  /** The agent and its sandbox are gone, with this error output. */
  onGone(complaint: string): void;
}

const noListener: AgentListener = { onFrame: () => undefined, onGone: () => undefined };

/** The connection to one agent. Passes its frames to the current listener. */
export class AgentLink {
  readonly #channel: AgentChannel;
  readonly #reader = new FrameReader();
  /** One listener only, so that a finished call is not kept in memory as long as its sandbox. */
  #listener = noListener;
  #complaint: string | undefined;
  readonly #spoke = Promise.withResolvers<boolean>();

  constructor(channel: AgentChannel) {
    this.#channel = channel;
    for (const each of [channel.input, channel.output]) each.on("error", () => undefined);
    channel.output.on("data", (chunk: Buffer) => this.#onData(chunk));
    void channel.ended.then((complaint) => {
      this.#complaint = complaint;
      this.#spoke.resolve(false);
      return this.#listener.onGone(complaint);
    });
  }

  /** Resolves with whether the agent has started: its sandbox has all its mounts by then. */
  get hasStarted(): Promise<boolean> {
    return this.#spoke.promise;
  }

  get isGone(): boolean {
    return this.#complaint !== undefined;
  }

  /** Replaces the listener. If the agent is already gone, the listener is called in a microtask. */
  listen(listener: AgentListener): void {
    this.#listener = listener;
    const complaint = this.#complaint;
    if (complaint !== undefined) queueMicrotask(() => listener.onGone(complaint));
  }

  stopListening(): void {
    this.#listener = noListener;
  }

  send(...frame: Parameters<typeof frameOf>): void {
    if (this.#channel.input.writable) this.#channel.input.write(frameOf(...frame));
  }

  pause(): void {
    this.#channel.output.pause();
  }

  resume(): void {
    this.#channel.output.resume();
  }

  memoryKills(): number {
    return this.#channel.memoryKills?.() ?? 0;
  }

  kill(): Promise<void> {
    return this.#channel.kill();
  }

  #onData(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) {
        this.#spoke.resolve(true);
        this.#listener.onFrame(frame);
      }
    } catch {
      // The agent does not send such frames, so untrusted code must have taken over the sandbox.
      void this.kill();
    }
  }
}
