import type { AgentChannel } from "./agent-channel.ts";
import type { Frame } from "./frames.ts";
import { FrameReader, frameOf } from "./frames.ts";

/** The connection to one agent. Whatever comes from it is given to the one who listens. */
export class AgentLink {
  readonly #channel: AgentChannel;
  readonly #reader = new FrameReader();
  #listener: (frame: Frame) => void = () => undefined;
  #isGone = false;
  /** Resolves when the agent and its sandbox are gone: what was complained of. */
  readonly gone: Promise<string>;

  constructor(channel: AgentChannel) {
    this.#channel = channel;
    for (const each of [channel.input, channel.output]) each.on("error", () => undefined);
    channel.output.on("data", (chunk: Buffer) => this.#hear(chunk));
    this.gone = channel.ended.then((complaint) => {
      this.#isGone = true;
      return complaint;
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  listen(listener: (frame: Frame) => void): void {
    this.#listener = listener;
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
      for (const frame of this.#reader.read(chunk)) this.#listener(frame);
    } catch {
      // No agent speaks like that: the sandbox is not ours any more.
      void this.kill();
    }
  }
}
