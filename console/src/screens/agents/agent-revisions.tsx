import { useInfiniteQuery, useMutation } from "@connectrpc/connect-query";
import type { Agent } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { Permitted } from "../../access/permitted.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DiffView } from "../../ui/content/diff-view.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { specAsYaml } from "./spec-text.ts";
import "../../styles/files.css";

interface AgentRevisionsProps {
  readonly agent: Agent;
  readonly onRestored: () => void;
}

/** The stored revisions of an agent: what each changed, and a way back to it. */
export function AgentRevisions({ agent, onRestored }: AgentRevisionsProps) {
  const agentId = agent.spec?.id ?? "";
  const query = useInfiniteQuery(
    AgentService.method.listAgentRevisions,
    { agentId, pageSize: 64, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    },
  );
  const revisions = query.data?.pages.flatMap((page) => page.revisions) ?? [];
  const [chosen, setChosen] = useState(agent.revision);
  const at = Math.max(
    0,
    revisions.findIndex(({ revision }) => revision === chosen),
  );
  const [shown, before] = [revisions[at], revisions[at + 1]];
  if (query.error !== null) {
    return <ProblemView problem={problemOf(query.error)} onRetry={() => void query.refetch()} />;
  }
  return (
    <div className="revisions">
      <ol className="revision-list" aria-label="Revisions">
        {revisions.map(({ revision, updatedAt, createdBy }) => (
          <li key={revision}>
            <button
              type="button"
              className="file-item"
              aria-pressed={revision === shown?.revision}
              onClick={() => setChosen(revision)}
            >
              <span>
                Revision {revision}
                {revision === agent.revision && " (current)"}
              </span>
              <span className="muted">
                <Ago ms={msOf(updatedAt)} />
                {createdBy !== "" && ` by ${createdBy}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {query.hasNextPage && (
        <button type="button" className="button" onClick={() => void query.fetchNextPage()}>
          Show older revisions
        </button>
      )}
      {shown !== undefined && (
        <section aria-label={`Revision ${shown.revision}`}>
          <header className="row">
            <h2>
              {before === undefined
                ? `Revision ${shown.revision}, the oldest that is stored`
                : `What revision ${shown.revision} changed`}
            </h2>
            {shown.revision !== agent.revision && (
              <div className="push">
                <Permitted method={AgentService.method.updateAgent} action="Rolling back">
                  <Restore key={shown.revision} shown={shown} agent={agent} onDone={onRestored} />
                </Permitted>
              </div>
            )}
          </header>
          <DiffView
            before={textOf(before)}
            after={textOf(shown)}
            label={`Changes of revision ${shown.revision}`}
          />
        </section>
      )}
    </div>
  );
}

interface RestoreProps {
  readonly shown: Agent;
  readonly agent: Agent;
  readonly onDone: () => void;
}

/** Saves the spec of an earlier revision as a new one, if the agent has not been changed meanwhile. */
function Restore({ shown, agent, onDone }: RestoreProps) {
  const update = useMutation(AgentService.method.updateAgent);
  return (
    <Dialog
      label="Roll back to it"
      title={`Roll back to revision ${shown.revision}?`}
      confirm={`Save it as revision ${agent.revision + 1}`}
      isBusy={update.isPending}
      onConfirm={(close) =>
        update.mutate(
          { spec: shown.spec, revision: agent.revision },
          {
            onSuccess: () => {
              close();
              onDone();
            },
          },
        )
      }
    >
      <p>Runs that have started keep their revision. This is what changes:</p>
      <DiffView before={textOf(agent)} after={textOf(shown)} label="What the roll back changes" />
      {update.error !== null && <ProblemView problem={problemOf(update.error)} />}
    </Dialog>
  );
}

function textOf(agent: Agent | undefined): string {
  return agent?.spec === undefined ? "" : specAsYaml(agent.spec);
}
