import type { Environment } from "@reeve/platform/config";
import { readConfig } from "@reeve/platform/config";
import { provisionConfig } from "@reeve/cli/provision-config";
import { approvalsConfig } from "@reeve/approvals/config";
import { gatewayConfig } from "@reeve/gateway/config";
import { runtimeConfig } from "@reeve/runtime/config";
import { toolhostConfig } from "@reeve/toolhost/config";
import { shippedPrograms } from "../../../scripts/programs/shipped-programs.ts";
import type { Workload } from "./manifests.ts";

/** A program of Reeve, as its code describes it. */
interface Program {
  readonly variables: readonly string[];
  /** Reads the settings as the program does. Throws a Failure that lists all problems. */
  read(environment: Environment): Readonly<Record<string, unknown>>;
}

const programs: Readonly<Record<string, Program>> = {
  gateway: {
    variables: Object.keys(gatewayConfig.shape),
    read: (environment) => readConfig(gatewayConfig, environment),
  },
  runtime: {
    variables: Object.keys(runtimeConfig.shape),
    read: (environment) => readConfig(runtimeConfig, environment),
  },
  toolhost: {
    variables: Object.keys(toolhostConfig.shape),
    read: (environment) => readConfig(toolhostConfig, environment),
  },
  approvals: {
    variables: Object.keys(approvalsConfig.shape),
    read: (environment) => readConfig(approvalsConfig, environment),
  },
  provision: {
    variables: Object.keys(provisionConfig.shape),
    read: (environment) => readConfig(provisionConfig, environment),
  },
};

/** Returns the name of the Reeve program that a workload runs, or undefined if it runs another program. */
export function programNameOf({ containers }: Workload): string | undefined {
  const [first] = containers;
  const [node, script = "", command] = first?.command ?? [];
  const [, name = ""] = /^programs\/(\w+)\.mjs$/.exec(script) ?? [];
  if (node !== "node" || !Object.hasOwn(shippedPrograms, name)) return undefined;
  return name === "reeve" ? command : name;
}

/** Returns the Reeve program that a workload runs. */
export function programOf(workload: Workload): Program | undefined {
  return programs[programNameOf(workload) ?? ""];
}
