import { once } from "node:events";
import { createServer } from "node:net";

// Below the ports that Linux gives to outgoing connections (32768 and up), so that no connection takes a port before a
// server listens on it, or while a server restarts.
const firstPort = 20_000;
const lastPort = 32_767;

const chosen = new Set<number>();

/** Returns a port of loopback on which nothing listens, and which this process has not chosen before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort + 1));
    if (chosen.has(port) || !(await isFree(port))) continue;
    chosen.add(port);
    return port;
  }
}

/** Returns `count` different ports, as `freePort` does. */
export async function freePorts(count: number): Promise<readonly number[]> {
  return await Promise.all(Array.from({ length: count }, freePort));
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  await once(probe.close(), "close");
  return true;
}
