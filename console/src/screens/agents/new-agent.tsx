import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentService, AgentSpecSchema } from "@reeve/contracts/agent";
import { problemOf } from "../../api/problem.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { AgentCrumbs } from "./agent-crumbs.tsx";
import { AgentEditor } from "./agent-editor.tsx";

/** The editor of an agent that does not exist yet. */
export function NewAgent() {
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(AgentService.method.listModels, {});
  const models = data?.models ?? [];
  return (
    <>
      <AgentCrumbs>
        <span>new</span>
      </AgentCrumbs>
      <PageHead title="Create an agent" />
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />}
      {data !== undefined && (
        <AgentEditor
          spec={create(AgentSpecSchema, {
            id: "assistant",
            name: "Assistant",
            model: models.find(({ id }) => id === "default")?.id ?? models[0]?.id ?? "default",
            instructions: "Answer briefly.\n",
          })}
          revision={0}
          onSaved={(agent) => void navigate({ to: "/start", search: { agent } })}
        />
      )}
    </>
  );
}
