import { create } from "@bufbuild/protobuf";
import {
  finishSubtaskName,
  longTermMemoryTools,
  runtimeTools,
  retrieveArtifactName,
} from "@reeve/agent/tools/runtime-tools";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { boundedLabel } from "@reeve/platform/telemetry/metrics";
import type { Catalogs } from "@reeve/engine/ports/catalogs";

const own: ReadonlySet<string> = new Set([
  ...runtimeTools(create(AgentSpecSchema, { allowParallelSubagents: true })).map(
    ({ name }) => name,
  ),
  ...longTermMemoryTools.map(({ name }) => name),
  retrieveArtifactName,
  finishSubtaskName,
]);

/** The label of a tool: its name if it is one of the runtime or on offer, and among the first `most` of these; else `other`. */
export function toolLabel(catalogs: () => Catalogs, most: number): (name: string) => string {
  const bounded = boundedLabel(most);
  return (name) => {
    if (own.has(name)) return name;
    const isOffered = catalogs().tools.some(({ tools }) =>
      tools.some((tool) => tool.name === name),
    );
    return isOffered ? bounded(name) : "other";
  };
}
