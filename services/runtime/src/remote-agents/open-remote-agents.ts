import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { RemoteAgents } from "@reeve/engine/ports/run-ports";
import type { Environment } from "@reeve/platform/config";
import { steadyClock } from "@reeve/platform/async/clock";
import type { Providers } from "@reeve/models/registry/provider-registry";
import { readRemotes } from "./remotes-file.ts";

/** The agents elsewhere that a runtime may call. */
export interface OpenedRemoteAgents extends RemoteAgents, AsyncDisposable {
  readonly provider: ModelProvider;
}

/** Opens the agents that the operator's file permits. Undefined: there is no file, and this runtime calls none. */
export async function openRemoteAgents(
  path: string | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<OpenedRemoteAgents | undefined> {
  if (path === undefined) return undefined;
  // Other runtimes do not load the SDK.
  const { A2AError } = await import("@a2a-js/sdk/errors");
  const { RemoteClients } = await import("./remote-clients.ts");
  const { remoteAgentProvider } = await import("./remote-provider.ts");
  const clients = new RemoteClients(await readRemotes(path, environment, signal), steadyClock.now);
  return {
    provider: remoteAgentProvider(clients),
    async cancel({ tenant, url, taskId }, until) {
      const { client } = await clients.clientFor(tenant, url, until);
      try {
        await client.cancelTask({ tenant: "", id: taskId, metadata: undefined }, { signal: until });
      } catch (error) {
        // The task has ended, or is gone.
        if (!(error instanceof A2AError)) throw error;
      }
    },
    [Symbol.asyncDispose]: () => clients[Symbol.asyncDispose](),
  };
}

/** Returns the providers with that of the agents elsewhere. */
export function withRemoteAgents(
  providers: Providers,
  provider: ModelProvider | undefined,
): Providers {
  if (provider === undefined) return providers;
  const { byName, catalog } = providers;
  const { descriptor } = provider;
  return {
    ...providers,
    byName: new Map(byName).set(descriptor.name, provider),
    catalog: create(ModelCatalogSchema, {
      ...catalog,
      providers: [...catalog.providers, descriptor],
    }),
  };
}
