import { executesCode } from "@reeve/agent/tools/isolation";
import type { ModelCatalog } from "@reeve/contracts/agent";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { openTable } from "@reeve/jetstream/table/nats";
import { describeModel, modelName } from "../render/describe-model.ts";

/** What the runs of a deployment can use. */
export interface Capabilities {
  /** What the model with the id `default` is. Undefined if there is none. */
  readonly defaultModel: string | undefined;
  /** The names of the scripts that agents can name as `scripted:NAME`. */
  readonly scripts: readonly string[];
  /** The isolation under which code runs. Undefined if there is none; then no code runs. */
  readonly isolation: string | undefined;
}

/** Reads what the toolhosts and runtimes have announced. */
export async function readCapabilities(nats: Nats, signal: AbortSignal): Promise<Capabilities> {
  const tools = await openTable(nats, ToolCatalogSchema);
  const models = await openTable(nats, ModelCatalogSchema);
  const pools = await tools.list("", signal);
  const [catalog] = await models.list("", signal);
  const isolation = pools.map(({ record }) => record.isolation).find(isIsolating);
  const providers = catalog?.record.providers ?? [];
  const scripts = providers
    .filter(({ scripted }) => scripted)
    .flatMap(({ upstreamNames }) => upstreamNames);
  return { isolation, defaultModel: defaultModelOf(catalog?.record), scripts };
}

function isIsolating(isolation: string): boolean {
  return isolation !== "" && executesCode(isolation);
}

function defaultModelOf(catalog: ModelCatalog | undefined): string | undefined {
  const model = catalog?.models.find(({ id }) => id === "default");
  if (model === undefined) return undefined;
  const provider = catalog?.providers.find(({ name }) => name === model.provider);
  return provider?.scripted === true ? describeModel(model, true) : modelName(model);
}
