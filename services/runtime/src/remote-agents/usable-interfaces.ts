import type { AgentCard, AgentInterface } from "@a2a-js/sdk";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { grpcOriginOf } from "./grpc/grpc-origin.ts";
import type { Remote } from "./remotes-file.ts";

/** The bindings over which a runtime calls agents. */
const bindings: readonly string[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/**
 * Returns the interfaces of a card over which its agent can be called, in its order of preference. Throws a ModelFailure if there is none.
 * `address` is the one of the card.
 */
export function usableInterfaces(
  card: AgentCard,
  remote: Pick<Remote, "name" | "binding" | "grpcOrigins">,
  address: string,
): AgentInterface[] {
  const { binding, name } = remote;
  const spoken = (card.supportedInterfaces ?? []).filter(
    ({ protocolBinding, protocolVersion }) =>
      protocolVersion.startsWith("1.") &&
      (binding === undefined ? bindings.includes(protocolBinding) : binding === protocolBinding),
  );
  const usable = spoken.filter(
    ({ protocolBinding, url }) =>
      protocolBinding !== "GRPC" || grpcOriginOf(remote, url) !== undefined,
  );
  if (usable.length > 0) return usable;
  const [refused] = spoken;
  if (refused !== undefined) {
    const message = `the card at ${address} offers gRPC at ${refused.url.slice(0, 200)}, which the remote ${name} does not permit; add its host and port to grpc of the entry in the file of REEVE_A2A_REMOTES`;
    throw new ModelFailure("refused", message);
  }
  const wanted = binding ?? "JSONRPC, HTTP+JSON, or GRPC";
  const message = `the card at ${address} has no interface of A2A 1.0 over ${wanted}`;
  throw new ModelFailure("unsupported", message);
}
