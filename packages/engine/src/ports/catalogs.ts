import type { ModelCatalog } from "@reeve/contracts/agent";
import type { ToolCatalog } from "@reeve/contracts/tool";

/** The tools and models that the deployment offers now. */
export interface Catalogs {
  readonly tools: readonly ToolCatalog[];
  readonly models: ModelCatalog;
}
