import { AGENT_CARD_PATH, AgentCard } from "@a2a-js/sdk";
import type { Client, TransportFactory } from "@a2a-js/sdk/client";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { grpcOriginOf } from "./grpc/grpc-origin.ts";
import { GrpcSessions } from "./grpc/grpc-sessions.ts";
import type { PermittedFetch } from "./permitted-fetch.ts";
import { limited, permittedFetch } from "./permitted-fetch.ts";
import type { Remote } from "./remotes-file.ts";
import { remoteFor } from "./remotes-file.ts";
import { usableInterfaces } from "./usable-interfaces.ts";
import { verifyCard } from "./verify-card.ts";

const maxCardBytes = 256 * 1024;
const cardMs = 15_000;
/** How long a card is used before it is read again. */
const cardAgeMs = 300_000;
/** The most cards of one entry. */
const maxCards = 1_000;

/** An agent at an endpoint, as its card describes it. */
export interface RemoteClient {
  readonly client: Client;
  readonly streams: boolean;
  /** Reaches the addresses that the operator permits for this agent, and no others. */
  readonly fetchImpl: typeof globalThis.fetch;
}

interface ReadCard {
  readonly client: RemoteClient;
  readonly readAtMs: number;
}

/** The clients of the agents that a runtime may call. Their cards are read on first use. */
export class RemoteClients implements AsyncDisposable {
  readonly #remotes: readonly Remote[];
  readonly #now: () => number;
  readonly #reaches = new Map<Remote, Reach>();
  /** By entry, because an entry has its own token, and then by URL. */
  readonly #cards = new Map<Remote, Map<string, ReadCard>>();

  constructor(remotes: readonly Remote[], now: () => number) {
    this.#remotes = remotes;
    this.#now = now;
  }

  /** Returns the client for an agent. Throws a ModelFailure if the operator does not permit it, or its card cannot be used. */
  async clientFor(tenant: string, url: string, signal: AbortSignal): Promise<RemoteClient> {
    const remote = remoteFor(this.#remotes, tenant, url);
    if (remote === undefined) {
      const message = `no entry of REEVE_A2A_REMOTES permits tenant ${tenant} to call ${url}; ask the operator for one`;
      throw new ModelFailure("refused", message);
    }
    const cards = this.#cards.get(remote) ?? new Map<string, ReadCard>();
    this.#cards.set(remote, cards);
    const known = cards.get(url);
    if (known !== undefined && this.#now() - known.readAtMs < cardAgeMs) return known.client;
    const client = await openClient(this.#reachOf(remote), url, signal);
    if (cards.size >= maxCards) cards.clear();
    cards.set(url, { client, readAtMs: this.#now() });
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const reaches = [...this.#reaches.values()];
    for (const { sessions } of reaches) sessions[Symbol.dispose]();
    await Promise.all(reaches.map(({ connections }) => connections[Symbol.asyncDispose]()));
  }

  #reachOf(remote: Remote): Reach {
    const known = this.#reaches.get(remote);
    if (known !== undefined) return known;
    const connections = permittedFetch(remote);
    const reach = { remote, connections, sessions: new GrpcSessions(remote) };
    this.#reaches.set(remote, reach);
    return reach;
  }
}

/** How the agents of an entry are reached. */
interface Reach {
  readonly remote: Remote;
  readonly connections: PermittedFetch;
  readonly sessions: GrpcSessions;
}

async function openClient(
  { remote, connections, sessions }: Reach,
  url: string,
  signal: AbortSignal,
): Promise<RemoteClient> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(cardMs)]);
  const { fetch: fetchImpl } = connections;
  const address = `${url.replace(/\/$/, "")}/${AGENT_CARD_PATH}`;
  const response = await fetchImpl(address, {
    headers: { accept: "application/json", "a2a-version": "1.0" },
    signal: until,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new ModelFailure(
      "unknown_model",
      `${address} answers ${response.status}; there is no agent card`,
    );
  }
  const text = await limited(response, maxCardBytes).text();
  const read = cardIn(text, address);
  await verifyCard(read, remote, fetchImpl, until);
  // What the signature covers: the resolver of the SDK passes some cards on as they are.
  const card = AgentCard.fromJSON(read);
  const supportedInterfaces = usableInterfaces(card, remote, address);
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl }),
    new RestTransportFactory({ fetchImpl }),
    grpcFactory(remote, sessions),
  ];
  const factory = new ClientFactory({ transports });
  const client = await factory.createFromAgentCard({ ...card, supportedInterfaces });
  return { client, streams: card.capabilities?.streaming === true, fetchImpl };
}

function grpcFactory(remote: Remote, sessions: GrpcSessions): TransportFactory {
  return {
    protocolName: "GRPC",
    async create(address) {
      const origin = grpcOriginOf(remote, address);
      if (origin === undefined) throw new ModelFailure("refused", `${address} is not permitted`);
      // Most agents are called over another binding.
      const { GrpcTransport } = await import("./grpc/grpc-transport.ts");
      return new GrpcTransport(sessions.sessionOf(origin), remote.token);
    },
  };
}

function cardIn(text: string, address: string): object {
  try {
    const card: unknown = JSON.parse(text);
    if (typeof card === "object" && card !== null && !Array.isArray(card)) return card;
  } catch {
    // Refused below.
  }
  throw new ModelFailure("malformed", `${address} is not an agent card`, { retryable: false });
}
