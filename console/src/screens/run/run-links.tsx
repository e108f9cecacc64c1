import { useRouterState } from "@tanstack/react-router";
import type { RunModel } from "../../run/run-model.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { curlOf } from "./curl-of.ts";

/** The ids and links by which others find this run. */
export function RunLinks({ run }: { readonly run: RunModel }) {
  const path = useRouterState({ select: ({ location }) => location.href });
  const { origin } = window.location;
  const last = run.events.at(-1)?.sequence ?? 0;
  return (
    <div className="run-links">
      <CopyButton text={run.runId} what="id" />
      <LabelledCopy
        name="Link"
        text={`${origin}${path}`}
        what="link to this view, for everyone in the tenant with the role viewer"
      />
      <LabelledCopy
        name="Link to now"
        text={`${origin}/runs/${run.runId}/events?at=${last}`}
        what="link to the last event"
      />
      <LabelledCopy name="curl" text={curlOf(origin, run.runId, 0)} what="request as curl" />
      {run.traceId !== "" && (
        <span>
          trace <span className="mono">{run.traceId}</span>
          <CopyButton text={run.traceId} what="trace id" />
        </span>
      )}
    </div>
  );
}

interface LabelledCopyProps {
  readonly name: string;
  readonly text: string;
  readonly what: string;
}

function LabelledCopy({ name, text, what }: LabelledCopyProps) {
  return (
    <span>
      {name}
      <CopyButton text={text} what={what} />
    </span>
  );
}
