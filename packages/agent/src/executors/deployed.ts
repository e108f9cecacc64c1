import type { Capability, Surroundings } from "./executor.ts";
import { offersSandbox, offersWorkspaces } from "./offered-tools.ts";

const noSandbox = "no toolhost offers an isolating sandbox; start one that has bubblewrap";
const noWorkspaces = "no toolhost keeps workspaces; start one that has bubblewrap";

/** Returns what a deployment lacks: its toolhosts decide. */
export function lacksOfDeployment({ tools }: Surroundings): Partial<Record<Capability, string>> {
  if (tools === undefined || offersSandbox(tools)) return {};
  return {
    sandbox: noSandbox,
    ...(offersWorkspaces(tools) ? {} : { files: noWorkspaces }),
  };
}
