import type { Client, Transport } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { AgentService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { IdentityService } from "@reeve/contracts/identity";
import { RunService } from "@reeve/contracts/run";

/** The methods of this gateway, called as the caller of a request. Their errors are those that a client receives. */
export interface GatewayApi {
  readonly agents: Client<typeof AgentService>;
  readonly approvals: Client<typeof ApprovalService>;
  readonly artifacts: Client<typeof ArtifactService>;
  readonly identity: Client<typeof IdentityService>;
  readonly runs: Client<typeof RunService>;
}

export function gatewayApi(transport: Transport): GatewayApi {
  return {
    agents: createClient(AgentService, transport),
    approvals: createClient(ApprovalService, transport),
    artifacts: createClient(ArtifactService, transport),
    identity: createClient(IdentityService, transport),
    runs: createClient(RunService, transport),
  };
}
