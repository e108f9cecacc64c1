import type { MessageInitShape } from "@bufbuild/protobuf";
import { sharedWith } from "@reeve/agent/delegates/shared-with";
import type { ResolvedDelegate } from "@reeve/agent/resolve/resolved-agent";
import type { PreparedDelegateSchema } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { capabilitiesOf, fallbacksOf } from "../prepared-parts.ts";

/** Returns what the log records of a delegate. Tools that the agent of the run has in the same form are named only. */
export function preparedDelegate(
  { agent: { agentId, revision }, resolved }: ResolvedDelegate,
  toolsOfRun: readonly ToolDescriptor[],
  hasPolicy: boolean,
): MessageInitShape<typeof PreparedDelegateSchema> {
  const { executor, limits, retry, tools, gated, plan } = resolved;
  const capabilities = executor && capabilitiesOf(executor);
  const isShared = sharedWith(toolsOfRun);
  return {
    agentId,
    revision,
    ...(executor && { model: executor.model }),
    ...(capabilities && { capabilities }),
    tools: tools.filter((tool) => !isShared(tool)),
    sharedTools: tools.filter(isShared).map(({ name }) => name),
    limits,
    retry,
    fallbacks: fallbacksOf(resolved),
    gatedTools: [...gated],
    planHash: plan.hash,
    skills: [...resolved.skills],
    // The rest of the policy's decision is the same for all agents of the run.
    ...(hasPolicy && { policy: { networkAllow: [...resolved.network] } }),
  };
}
