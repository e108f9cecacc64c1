import { once } from "node:events";
import type { AgentChannel } from "../agent/agent-channel.ts";
import { ContainerStreams } from "./container-streams.ts";
import type { Engine } from "./engine.ts";

const beginMs = 60_000;
const endMs = 30_000;

/**
 * Starts a container and connects to its agent. What was begun is taken away again when that fails, or nobody wants it any
 * more: what was asked of the engine is waited for, because an engine that is not listened to does it all the same.
 */
export async function startContainer(
  engine: Engine,
  name: string,
  config: object,
  signal: AbortSignal,
): Promise<AgentChannel> {
  signal.throwIfAborted();
  const begin = AbortSignal.timeout(beginMs);
  try {
    await engine.post(`/containers/create?name=${name}`, config, begin);
    signal.throwIfAborted();
    const socket = await engine.attach(
      `/containers/${name}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
      begin,
    );
    const streams = new ContainerStreams(socket);
    const closed = once(socket, "close");
    await engine.post(`/containers/${name}/start`, undefined, begin);
    const { promise: killed, resolve } = Promise.withResolvers<void>();
    const gone = async () => {
      // The engine closes its streams when the container has ended, however that came about.
      await Promise.race([closed, killed]);
      socket.destroy();
      await engine.remove(name, AbortSignal.timeout(endMs)).catch(() => undefined);
      return streams.complaint;
    };
    const ended = gone();
    return {
      input: socket,
      output: streams.output,
      ended,
      kill: async () => {
        resolve();
        await ended;
      },
    };
  } catch (error) {
    await engine.remove(name, AbortSignal.timeout(endMs)).catch(() => undefined);
    throw error;
  }
}
