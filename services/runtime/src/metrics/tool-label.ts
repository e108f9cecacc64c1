import { create } from "@bufbuild/protobuf";
import {
  finishSubtaskName,
  longTermMemoryTools,
  runtimeTools,
  retrieveArtifactName,
} from "@reeve/agent/tools/runtime-tools";
import { searchKnowledgeName } from "@reeve/agent/tools/search-knowledge";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { boundedLabel } from "@reeve/platform/telemetry/metrics";
import type { Catalogs } from "@reeve/engine/ports/catalogs";

const own: ReadonlySet<string> = new Set([
  ...runtimeTools(
    create(AgentSpecSchema, { allowParallelSubagents: true, questions: {}, skills: ["any"] }),
  ).map(({ name }) => name),
  ...longTermMemoryTools.map(({ name }) => name),
  searchKnowledgeName,
  retrieveArtifactName,
  finishSubtaskName,
]);

/**
 * Returns a function that maps tool names to labels: a tool of the runtime, or one of the first `maxNames` offered tools, is
 * its own label; any other name is `other`.
 */
export function toolLabel(catalogs: () => Catalogs, maxNames: number): (name: string) => string {
  const bounded = boundedLabel(maxNames);
  return (name) => {
    if (own.has(name)) return name;
    const isOffered = catalogs().tools.some(({ tools }) =>
      tools.some((tool) => tool.name === name),
    );
    return isOffered ? bounded(name) : "other";
  };
}
