import { Link } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import { Permitted } from "../../access/permitted.tsx";

/** Leads to the editor of a new agent, if the roles permit to create one. */
export function CreateLink() {
  return (
    <Permitted method={AgentService.method.createAgent} action="Creating an agent">
      <Link
        to="/agents/{-$agentId}"
        params={{ agentId: undefined }}
        search={{ create: true }}
        className="button primary"
      >
        Create an agent
      </Link>
    </Permitted>
  );
}
