import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { ModelPart, ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { RemoteClients } from "../../src/remote-agents/remote-clients.ts";
import { remoteAgentProvider } from "../../src/remote-agents/remote-provider.ts";
import type { Remote } from "../../src/remote-agents/remotes-file.ts";

const never = new AbortController().signal;

export const remoteAt = (prefix: string, more: Partial<Remote> = {}): Remote => ({
  name: "here",
  prefix,
  tenants: undefined,
  token: undefined,
  allowedAddresses: ["127.0.0.1"],
  cardKeys: undefined,
  grpcOrigins: [],
  binding: undefined,
  ...more,
});

export const user = (text: string): PromptMessage => ({ role: "user", text });

export const fresh = {
  messageId: "m-1",
  taskId: "",
  contextId: "",
  isAccepted: false,
  maxMs: 60_000,
};

export function requestTo(
  url: string,
  messages: readonly PromptMessage[],
  remote = fresh,
): ModelRequest {
  return {
    model: create(ModelSpecSchema, { id: "far", provider: "a2a", upstreamName: url }),
    instructions: "",
    messages,
    tools: [],
    parallelToolCalls: false,
    temperature: undefined,
    maxTokens: undefined,
    owner: { tenant: "acme", runId: "run_1" },
    remote,
  };
}

/** Sends a request to an agent on this host, and returns what the run gets. */
export async function ask(
  remotes: readonly Remote[],
  request: ModelRequest,
): Promise<readonly ModelPart[]> {
  await using clients = new RemoteClients(remotes, () => 0);
  const delays = { firstDelayMs: 1, maxDelayMs: 1 };
  return await Array.fromAsync(remoteAgentProvider(clients, { delays }).stream(request, never));
}

/** Returns why the agent gave no answer. Throws if it gave one. */
export async function failureOf(answer: Promise<unknown>): Promise<ModelFailure> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof ModelFailure) return error;
    throw error;
  }
  throw new Error("the agent answered");
}
