import { create } from "@bufbuild/protobuf";
import { useNavigate } from "@tanstack/react-router";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { useState } from "react";
import { PageHead } from "../../ui/page-head.tsx";
import { newGraph } from "../../workflow/graph/edit-graph.ts";
import { WorkflowCrumbs } from "./workflow-crumbs.tsx";
import { WorkflowEditor } from "./workflow-editor.tsx";

/** The editor of a workflow that does not exist yet. */
export function NewWorkflow() {
  const navigate = useNavigate();
  const [spec] = useState(() =>
    create(AgentSpecSchema, {
      id: "workflow",
      name: "Workflow",
      model: "default",
      workflow: newGraph(),
    }),
  );
  return (
    <>
      <WorkflowCrumbs>
        <span>new</span>
      </WorkflowCrumbs>
      <PageHead title="Create a workflow" />
      <WorkflowEditor
        spec={spec}
        revision={0}
        onSaved={(agentId) => void navigate({ to: "/workflows/{-$agentId}", params: { agentId } })}
      />
    </>
  );
}
