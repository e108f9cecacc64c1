import type { Agent } from "@reeve/contracts/agent";
import { useState } from "react";

/** The revision that an editor shows. */
interface BaseRevision {
  readonly agent: Agent;
  readonly isSaved: boolean;
  readonly show: (agent: Agent) => void;
  /** Shows the revision that was saved. */
  readonly onSaved: () => Promise<void>;
}

/** Keeps the revision that was shown first. One that somebody else saves does not replace what is written here. */
export function useBaseRevision(
  agent: Agent,
  read: () => Promise<Agent | undefined>,
): BaseRevision {
  const [base, setBase] = useState(agent);
  const [isSaved, setSaved] = useState(false);
  const onSaved = async () => {
    setSaved(true);
    setBase((await read()) ?? base);
    setSaved(false);
  };
  return { agent: base, isSaved, show: setBase, onSaved };
}

interface StaleRevisionProps {
  readonly agent: Agent;
  readonly base: BaseRevision;
}

/** Says that somebody else has saved another revision meanwhile. */
export function StaleRevision({ agent, base }: StaleRevisionProps) {
  if (agent.revision <= base.agent.revision || base.isSaved) return null;
  return (
    <p className="note warn">
      Revision {agent.revision} was saved while you had revision {base.agent.revision} open, which
      cannot be saved any more.{" "}
      <button type="button" className="button" onClick={() => base.show(agent)}>
        Discard what is written here, and show revision {agent.revision}
      </button>
    </p>
  );
}
