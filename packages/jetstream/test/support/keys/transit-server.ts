import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { KeyVersions } from "../../../src/sealing/memory-key-store.ts";
import { unwrapWith, withNewVersion, wrapWith } from "../../../src/sealing/memory-key-store.ts";

interface Given {
  readonly plaintext?: string;
  readonly ciphertext?: string;
  readonly associated_data?: string;
  readonly deletion_allowed?: boolean;
  readonly min_decryption_version?: number;
}

interface Key {
  versions: KeyVersions;
  mayDelete: boolean;
}

const altered = { status: 400, body: { errors: ["cipher: message authentication failed"] } };

/** A server with the part of Vault's transit engine that key stores use, whose policy permits no new keys. */
export async function startTransit(token: string) {
  const keys = new Map<string, Key>();
  const state = { isDown: false, /** The answer of what is in front of Vault. */ instead: "" };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const given = JSON.parse((await text(request)) || "{}") as Given;
    const path = (request.url ?? "").replace("/v1/transit/", "");
    const isKnown = request.headers["x-vault-token"] === token;
    if (state.instead !== "") {
      const { status: code, body: content } = JSON.parse(state.instead) as Answer;
      response.writeHead(code).end(content === undefined ? "" : JSON.stringify(content));
      return;
    }
    const { status, body } = state.isDown
      ? { status: 503, body: { errors: ["Vault is sealed"] } }
      : isKnown
        ? answerTo(keys, `${request.method} ${path}`, given)
        : { status: 403, body: { errors: ["permission denied"] } };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body === undefined ? "" : JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    state,
    create: (name: string) =>
      void keys.set(name, { versions: withNewVersion([]), mayDelete: false }),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/** As Vault answers with a policy that does not permit to create keys. */
function missing(verb: string, name: string) {
  if (verb === "encrypt") return { status: 403, body: { errors: ["permission denied"] } };
  const problem =
    verb === "decrypt"
      ? "encryption key not found"
      : `no existing key named ${name} could be found`;
  return { status: 400, body: { errors: [problem] } };
}

function answerTo(keys: Map<string, Key>, call: string, given: Given) {
  const [, verb = "", name = "", end = ""] =
    /^\w+ (encrypt|decrypt|keys)\/([^/]+)(\/\w+)?$/.exec(call) ?? [];
  const key = keys.get(name);
  if (key === undefined) return missing(verb, name);
  const context = given.associated_data ?? "";
  if (verb === "encrypt") {
    const bytes = Buffer.from(given.plaintext ?? "", "base64");
    const wrapped = wrapWith(context, key.versions, bytes);
    const ciphertext = `vault:v${wrapped.version}:${Buffer.from(wrapped.bytes).toString("base64")}`;
    return { status: 200, body: { data: { ciphertext } } };
  }
  if (verb === "decrypt") {
    const [, version = "", data = ""] = /^vault:v(\d+):(.*)$/.exec(given.ciphertext ?? "") ?? [];
    try {
      const wrapped = { version, bytes: Buffer.from(data, "base64") };
      const plaintext = Buffer.from(unwrapWith(context, key.versions, wrapped)).toString("base64");
      return { status: 200, body: { data: { plaintext } } };
    } catch {
      return altered;
    }
  }
  if (call.startsWith("DELETE")) {
    if (key.mayDelete) keys.delete(name);
    return key.mayDelete
      ? { status: 204, body: undefined }
      : { status: 400, body: { errors: ["deletion is not allowed for this key"] } };
  }
  if (end === "/rotate") key.versions = withNewVersion(key.versions);
  if (end === "/config") {
    key.mayDelete ||= given.deletion_allowed === true;
    const min = given.min_decryption_version ?? 1;
    key.versions = key.versions.filter(([version]) => Number(version) >= min);
  }
  return { status: 200, body: { data: { latest_version: Number(key.versions.at(-1)?.[0]) } } };
}
