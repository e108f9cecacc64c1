import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Trigger } from "@reeve/contracts/trigger";
import { TriggerService } from "@reeve/contracts/trigger";
import { useAccess } from "../../access/use-access.ts";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { CanvasLink } from "../workflows/canvas-link.tsx";
import { Firings } from "./firings.tsx";
import { TriggerActions } from "./trigger-actions.tsx";
import { TriggerCrumbs } from "./trigger-crumbs.tsx";
import { draftOf, specOf } from "./trigger-draft.ts";
import { TriggerForm } from "./trigger-form.tsx";
import { hookAddress, nameOfState, sourceLine } from "./trigger-names.ts";

const firingsKey = createConnectQueryKey({
  schema: TriggerService.method.listFirings,
  cardinality: "finite",
});

/** One trigger: what it does, when it fires next, and what became of its last firings. */
export function TriggerView({ triggerId }: { readonly triggerId: string }) {
  const { data, error, refetch } = useQuery(
    TriggerService.method.getTrigger,
    { triggerId },
    { refetchInterval: 5_000 },
  );
  const client = useQueryClient();
  const trigger = data?.trigger;
  return (
    <>
      <TriggerCrumbs>
        <span className="mono">{triggerId}</span>
      </TriggerCrumbs>
      <PageHead title={triggerId}>
        <Link to="/runs" search={{ label: `trigger=${triggerId}` }}>
          Runs
        </Link>
      </PageHead>
      {error !== null && <ProblemView problem={problemOf(error)} />}
      {trigger !== undefined && (
        <>
          <Facts trigger={trigger} />
          <TriggerActions
            trigger={trigger}
            onDone={() => {
              void refetch();
              void client.invalidateQueries({ queryKey: firingsKey });
            }}
          />
          <Firings triggerId={triggerId} />
          <h2 className="section">What it does</h2>
          <Spec key={trigger.revision} trigger={trigger} onSaved={() => void refetch()} />
        </>
      )}
    </>
  );
}

function Facts({ trigger }: { readonly trigger: Trigger }) {
  const { spec, state, stopReason, owner, nextFiringAt, revision, updatedAt } = trigger;
  const address = hookAddress(trigger, window.location.origin);
  return (
    <dl className="facts">
      <div>
        <dt>State</dt>
        <dd>
          <Badge {...nameOfState(state)} />
          {stopReason !== "" && <span className="bad"> {stopReason}</span>}
        </dd>
      </div>
      <div>
        <dt>Starts</dt>
        <dd>
          <Link to="/agents/{-$agentId}" params={{ agentId: spec?.agentId ?? "" }}>
            {spec?.agentId}
          </Link>
          <CanvasLink agentId={spec?.agentId ?? ""} />
        </dd>
      </div>
      <div>
        <dt>Fires at</dt>
        <dd className="mono">{spec === undefined ? "" : sourceLine(spec)}</dd>
      </div>
      {address === "" ? (
        <div>
          <dt>Next firing</dt>
          <dd>
            <Ago ms={msOf(nextFiringAt)} />
          </dd>
        </div>
      ) : (
        <div>
          <dt>Address of the webhook</dt>
          <dd className="mono">
            {address} <CopyButton text={address} what="address" />
          </dd>
        </div>
      )}
      <div>
        <dt>Runs belong to</dt>
        <dd>{owner?.subject}</dd>
      </div>
      <div>
        <dt>Changed</dt>
        <dd>
          <Ago ms={msOf(updatedAt)} />
          <span className="muted"> revision {revision}</span>
        </dd>
      </div>
    </dl>
  );
}

interface SpecProps {
  readonly trigger: Trigger;
  readonly onSaved: () => void;
}

/** Saves only over the revision that is shown. */
function Spec({ trigger, onSaved }: SpecProps) {
  const { updateTrigger } = TriggerService.method;
  const reason = useAccess().whyNot(updateTrigger, "Changing the trigger");
  const update = useMutation(updateTrigger);
  const { spec, revision } = trigger;
  if (spec === undefined) return null;
  return (
    <>
      {reason !== undefined && <p className="hint">{reason}</p>}
      {reason === undefined && (
        <p className="hint">
          The person who saves it becomes its owner, and its runs are theirs from then on.
        </p>
      )}
      <TriggerForm
        draft={draftOf(spec)}
        isNew={false}
        isReadOnly={reason !== undefined}
        isBusy={update.isPending}
        problem={update.error === null ? undefined : problemOf(update.error)}
        label={`Save as revision ${revision + 1}`}
        onSave={(draft) =>
          update.mutate({ spec: specOf(draft), revision }, { onSuccess: () => onSaved() })
        }
      />
    </>
  );
}
