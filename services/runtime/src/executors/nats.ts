import { natsExecutor } from "@reeve/agent/executors/nats";
import type { DeployedExecutor } from "./port.ts";

/** Workers take runs from the queue itself. */
export const natsCarrier: DeployedExecutor = {
  name: natsExecutor.name,
  carry: async (_, { dispatch }) => dispatch,
};
