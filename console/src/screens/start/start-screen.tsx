import { getRouteApi } from "@tanstack/react-router";
import { RunService } from "@reeve/contracts/run";
import { Permitted } from "../../access/permitted.tsx";
import { CreateLink } from "../agents/create-link.tsx";
import { LoadedAgents } from "../agents/loaded-agents.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { StartForm } from "./start-form.tsx";
import "../../styles/start.css";

const route = getRouteApi("/start");

/** Where a person starts a run, and, in a new deployment, creates the first agent. */
export function StartScreen() {
  const { agent } = route.useSearch();
  return (
    <>
      <PageHead title="Start a run" />
      <LoadedAgents
        empty={
          <Empty title="First, an agent">
            <p>
              An agent is a model with instructions and the tools that it may use. Create one here,
              or store a file with <code>reeve agents apply -f FILE</code>.
            </p>
            <CreateLink />
          </Empty>
        }
      >
        {(agents) => (
          <Permitted method={RunService.method.startRun} action="Starting a run">
            <StartForm agents={agents} chosen={agent} />
          </Permitted>
        )}
      </LoadedAgents>
    </>
  );
}
