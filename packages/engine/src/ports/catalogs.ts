import type { ModelCatalog } from "@reeve/contracts/agent";
import type { ToolCatalog } from "@reeve/contracts/tool";

/** What the deployment offers at this moment. */
export interface Catalogs {
  readonly tools: readonly ToolCatalog[];
  readonly models: ModelCatalog;
}
