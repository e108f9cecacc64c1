import { connect } from "node:net";

/** How long a server may take to introduce itself. */
const timeoutMs = 2_000;

/**
 * Returns the version of the NATS server at `host:port`, which it tells every connection before it asks for credentials.
 * Returns undefined when it does not answer.
 */
export async function serverVersionAt(address: string): Promise<string | undefined> {
  const { hostname, port } = new URL(`nats://${address}`);
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
  socket.setEncoding("utf8").setTimeout(timeoutMs, () => socket.destroy());
  let line = "";
  try {
    for await (const chunk of socket) {
      line += String(chunk);
      if (line.includes("\r\n")) return versionOf(line);
    }
  } catch {
    // The server is down, or not reachable from here.
  } finally {
    socket.destroy();
  }
  return undefined;
}

function versionOf(line: string): string | undefined {
  return /^INFO .*"version":"([^"]+)"/.exec(line)?.[1];
}
