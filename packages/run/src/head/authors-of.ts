import type { RunCreated } from "@reeve/contracts/run";

/** Returns who saved the agent of a run and its delegates. An empty text is one who is not known. */
export function authorsOf(
  created: Pick<RunCreated, "agentAuthor" | "delegates"> | undefined,
): readonly string[] {
  const { agentAuthor = "", delegates = [] } = created ?? {};
  return [agentAuthor, ...delegates.map(({ author }) => author)];
}
