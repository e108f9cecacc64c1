import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { parseNetworkEntry } from "./network-entry.ts";
import { stringsOf } from "./string-list.ts";

const field = "deep_agent.network.allow";
const credentialsField = "deep_agent.network.credentials";

/** The classes by whose names an agent asks for tools that use the network. Tools that it allows by name may use it too. */
const usingClasses = ["execute", "network"];

/** Returns the violations of an agent's network settings. Only toolhosts know whether the operator permits them. */
export function checkNetwork({
  allowedTools,
  deepAgent,
  permissionClasses,
}: AgentSpec): readonly Violation[] {
  const allow = deepAgent?.network?.allow ?? [];
  const credentials = deepAgent?.network?.credentials ?? [];
  if (allow.length === 0) return credentials.length === 0 ? [] : [withoutHosts];
  const usesNetwork =
    stringsOf(allowedTools).strings.length > 0 ||
    permissionClasses.some((name) => usingClasses.includes(name));
  const lacksSecrets = credentials.length > 0 && !permissionClasses.includes("secrets");
  return [
    ...(lacksSecrets ? [withoutSecrets] : []),
    ...allow.flatMap((text, index) => malformed(text, index)),
    ...(usesNetwork ? [] : [withoutUse]),
  ];
}

const withoutHosts: Violation = {
  field: credentialsField,
  reason: "MISSING_HOSTS",
  description: `credentials are for requests to hosts; add the hosts to ${field}`,
};

const withoutUse: Violation = {
  field,
  reason: "CLASS_NOT_GRANTED",
  description:
    "only code, commands, and web tools use the network; add execute, network, or both to permission_classes, or name web tools in allowed_tools",
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
