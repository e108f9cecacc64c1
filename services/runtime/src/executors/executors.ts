import type { DeployedExecutor } from "./port.ts";
import { natsCarrier } from "./nats.ts";
import { temporalCarrier } from "./temporal/temporal.ts";

const deployedExecutors: readonly DeployedExecutor[] = [natsCarrier, temporalCarrier];

/** Returns the executor with a name. */
export function deployedExecutor(name: string): DeployedExecutor {
  const found = deployedExecutors.find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`no runtime has the executor ${name}`);
  return found;
}
