import type { ResolvedAgent } from "@reeve/agent/resolve/resolved-agent";
import type { Fact } from "../state/fact.ts";
import { fact, rootScope } from "../state/fact.ts";

/** Returns the fact that agents of a run generate media, which precedes its preparation. None if no agent does. */
export function mediaPrepared({
  media,
  delegates,
}: Pick<ResolvedAgent, "media" | "delegates">): readonly Fact[] {
  const all = [
    { agentId: "", media },
    ...delegates.map(({ agent, resolved }) => ({ agentId: agent.agentId, media: resolved.media })),
  ];
  const agents = all.flatMap(({ agentId, media: models }) => {
    if (models.size === 0) return [];
    const image = models.get("image")?.model;
    const speech = models.get("speech")?.model;
    return [{ agentId, ...(image && { image }), ...(speech && { speech }) }];
  });
  return agents.length === 0 ? [] : [fact(rootScope, { case: "mediaPrepared", value: { agents } })];
}
