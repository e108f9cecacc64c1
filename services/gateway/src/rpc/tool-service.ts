import { catalogsFor } from "@reeve/agent/tools/catalogs-for";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ToolService } from "@reeve/contracts/tool";
import type { GatewayPorts } from "../app/gateway-ports.ts";

/** Returns the handlers of ToolService. */
export function toolService({
  offer,
}: Pick<GatewayPorts, "offer">): ServiceImpl<typeof ToolService> {
  return {
    listTools: () => ({
      tools: catalogsFor(offer().tools)
        .flatMap(({ tools }) => tools)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    }),
  };
}
