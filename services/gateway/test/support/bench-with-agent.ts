import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Clients, Protocol } from "./clients.ts";
import { clientsOf } from "./clients.ts";
import type { GatewayBench } from "./gateway-bench.ts";
import { openGatewayBench, tokens } from "./gateway-bench.ts";

/** The id of a run that does not exist. */
export const unknownRun = "run_doesnotexist";

/** A gateway with an agent `known` of the tenant `acme`. */
export interface BenchWithAgent extends GatewayBench {
  readonly acme: Clients;
  readonly globex: Clients;
  /** Creates clients for a protocol, with any authorization header. */
  as(protocol: Protocol, authorization: string | undefined): Clients;
  /** Starts a run of `acme` that waits for a runtime, and returns its id. */
  queued(): Promise<string>;
}

/** Opens it with further settings of the gateway. */
export async function openBenchWithAgent(
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchWithAgent> {
  await using starting = new AsyncDisposableStack();
  const bench = starting.use(await openGatewayBench(settings));
  const as = (protocol: Protocol, authorization: string | undefined) =>
    clientsOf(bench.url, authorization, protocol);
  const acme = as("gRPC", `Bearer ${tokens.acme}`);
  await acme.agents.createAgent({ spec: specOf("known") });
  const resources = starting.move();
  return {
    ...bench,
    as,
    acme,
    globex: as("gRPC", `Bearer ${tokens.globex}`),
    async queued() {
      const { run } = await acme.runs.startRun({ agentId: "known", input: "hello" });
      return run?.runId ?? "";
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Returns a valid spec. */
export function specOf(id: string): AgentSpec {
  return create(AgentSpecSchema, { id, name: id, model: "known" });
}
