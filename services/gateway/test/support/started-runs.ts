import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { RunHead } from "@reeve/run/head/run-head";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import type { Credential } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../../src/app/gateway-ports.ts";
import { startRun } from "../../src/app/start-run.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { ann, memoryPorts, storeAgent } from "./memory-ports.ts";

const never = new AbortController().signal;

/** Returns ports with the agent `writer`. */
export async function withAgent(): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await storeAgent(ports, "writer");
  return ports;
}

/** Starts a run of the agent `writer`, unless `init` says otherwise. */
export async function start(
  ports: GatewayPorts,
  init: MessageInitShape<typeof StartRunRequestSchema> = {},
  principal: Credential = ann,
): Promise<RunHead> {
  const request = create(StartRunRequestSchema, { agentId: "writer", input: "hello", ...init });
  const { run } = await startRun(ports, principal, request, never);
  return run;
}
