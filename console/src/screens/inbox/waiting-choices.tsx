import type { Approval } from "@reeve/contracts/approval";
import { useState } from "react";
import { BulkDecision } from "./bulk-decision.tsx";
import { WaitingList } from "./waiting-list.tsx";

interface WaitingChoicesProps {
  readonly approvals: readonly Approval[];
  /** Id of the one that is shown. */
  readonly shownId: string | undefined;
  /** Id of the one that was decided last. Empty: none was. */
  readonly decidedId: string;
  readonly onDecided: () => void;
}

/** The decisions that wait, of which several can be chosen and decided alike. Each instance begins with none chosen. */
export function WaitingChoices({ approvals, shownId, decidedId, onDecided }: WaitingChoicesProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (id: string, isChosen: boolean) =>
    setChosen(
      (before) => new Set([...before].filter((each) => each !== id).concat(isChosen ? [id] : [])),
    );
  return (
    <>
      <BulkDecision
        chosen={approvals.filter((each) => chosen.has(each.approvalId))}
        onDecided={(ids) => {
          for (const id of ids) choose(id, false);
          onDecided();
        }}
      />
      <WaitingList
        approvals={approvals}
        at={approvals.findIndex((each) => each.approvalId === shownId)}
        chosen={chosen}
        decidedId={decidedId}
        onChoose={choose}
      />
    </>
  );
}
