import type { AgentSpec } from "@reeve/contracts/agent";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { parseNetworkEntry } from "./network-entry.ts";
import { grantedClasses } from "../tools/permission-classes.ts";

const field = "deep_agent.network.allow";
const credentialsField = "deep_agent.network.credentials";

/** Returns the violations of an agent's network settings. Only toolhosts know whether the operator permits them. */
export function checkNetwork({ deepAgent, permissionClasses }: AgentSpec): readonly Violation[] {
  const allow = deepAgent?.network?.allow ?? [];
  const credentials = deepAgent?.network?.credentials ?? [];
  if (allow.length === 0) return credentials.length === 0 ? [] : [withoutHosts];
  const granted = grantedClasses(permissionClasses);
  const lacksNetwork = !granted.has(PermissionClass.NETWORK);
  const lacksSecrets = credentials.length > 0 && !permissionClasses.includes("secrets");
  return [
    ...(lacksSecrets ? [withoutSecrets] : []),
    ...allow.flatMap((text, index) => malformed(text, index)),
    ...(lacksNetwork ? [withoutNetwork] : []),
  ];
}

const withoutHosts: Violation = {
  field: credentialsField,
  reason: "MISSING_HOSTS",
  description: `credentials are for requests to hosts; add the hosts to ${field}`,
};

const withoutNetwork: Violation = {
  field,
  reason: "CLASS_NOT_GRANTED",
  description: "hosts need the permission class network; add it to permission_classes",
};

const withoutSecrets: Violation = {
  field: credentialsField,
  reason: "CLASS_NOT_GRANTED",
  description:
    "credentials have secrets, which need the permission class secrets; add it to permission_classes",
};

function malformed(text: string, index: number): readonly Violation[] {
  if (parseNetworkEntry(text, "agent") !== undefined) return [];
  const description = `"${text}" is neither host:port nor *.host:port, such as example.org:443 or *.example.org:443`;
  return [{ field: `${field}[${index}]`, reason: "MALFORMED", description }];
}
