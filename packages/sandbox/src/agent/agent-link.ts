import type { AgentChannel } from "./agent-channel.ts";
import type { Frame } from "./frames.ts";
import { FrameReader, frameOf } from "./frames.ts";

/** Who hears an agent. */
export interface AgentListener {
  onFrame(frame: Frame): void;
  /** The agent and its sandbox are gone: what was complained of. */
  onGone(complaint: string): void;
}

const noListener: AgentListener = { onFrame: () => undefined, onGone: () => undefined };

/** The connection to one agent. Whatever comes from it is given to the one who listens. */
export class AgentLink {
  readonly #channel: AgentChannel;
  readonly #reader = new FrameReader();
  /** No more than one, so that a call that is over is not kept as long as its sandbox. */
  #listener = noListener;
  #complaint: string | undefined;

  constructor(channel: AgentChannel) {
    this.#channel = channel;
    for (const each of [channel.input, channel.output]) each.on("error", () => undefined);
    channel.output.on("data", (chunk: Buffer) => this.#hear(chunk));
    void channel.ended.then((complaint) => {
      this.#complaint = complaint;
      return this.#listener.onGone(complaint);
    });
  }

  get isGone(): boolean {
    return this.#complaint !== undefined;
  }

  /** In place of whoever has listened before. Of an agent that is gone he hears as well, a moment later. */
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

  #hear(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) this.#listener.onFrame(frame);
    } catch {
      // No agent speaks like that: the sandbox is not ours any more.
      void this.kill();
    }
  }
}
