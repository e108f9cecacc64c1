import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server with the read API of a KV engine (version 2) of Vault. */
export interface VaultServer extends AsyncDisposable {
  readonly url: string;
  /** The entries, by path. Null: the last version was deleted. */
  readonly entries: Map<string, Readonly<Record<string, unknown>> | null>;
  /** The token that it accepts. */
  token: string;
  /** The paths that were read, in order. */
  readonly reads: string[];
}

export async function startVault(): Promise<VaultServer> {
  const entries: VaultServer["entries"] = new Map();
  const vault = { entries, token: "vault-token-1", reads: [] as string[] };
  const server = createServer((request, response) => answer(vault, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return Object.assign(vault, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  });
}

function answer(
  { entries, token, reads }: Pick<VaultServer, "entries" | "token" | "reads">,
  { url = "", headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const path = url.replace("/v1/secret/data/", "");
  reads.push(path);
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  if (headers["x-vault-token"] !== token) return send(403, { errors: ["permission denied"] });
  const entry = entries.get(path);
  if (entry === undefined) return send(404, { errors: [] });
  const metadata = { version: 2, destroyed: false };
  send(entry === null ? 404 : 200, { data: { data: entry, metadata } });
}
