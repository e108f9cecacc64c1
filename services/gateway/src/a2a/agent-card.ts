import type { AgentCard, AgentExtension, AgentInterface, AgentSkill } from "@a2a-js/sdk";
import { A2A_PROTOCOL_VERSION } from "@a2a-js/sdk";
import { usageExtension } from "@reeve/agent/resolve/remote-usage";
import type { Agent, A2aSkill } from "@reeve/contracts/agent";

/** How this gateway speaks the protocol at the address of an agent, in the order of preference. */
const bindings = ["JSONRPC", "HTTP+JSON"] as const;
const inputModes = ["text/plain", "application/json", "image/png", "image/jpeg", "application/pdf"];
const outputModes = ["text/plain", "application/json"];

/** Clients need not ask for it: it only adds metadata. */
const usage: AgentExtension = {
  uri: usageExtension,
  description: "Tasks report in their metadata what they have used so far.",
  required: false,
  params: undefined,
};

/** Where an agent is served, and how. */
interface CardPlace {
  readonly url: string;
  /** Where the gateway is reached over gRPC, as `host:port`. Undefined: the card does not offer it. */
  readonly grpcAddress: string | undefined;
  readonly pushNotifications: boolean;
}

/** Returns the card of an agent, without signatures. */
export function agentCardOf(
  { spec, revision }: Agent,
  { url, grpcAddress, pushNotifications }: CardPlace,
): AgentCard {
  const { id = "", name = "", a2a } = spec ?? {};
  const description = a2a?.description || name;
  const skills = a2a?.skills ?? [];
  return {
    name,
    description,
    version: String(revision),
    supportedInterfaces: [
      ...bindings.map((protocolBinding) => interfaceAt({ url, protocolBinding })),
      // The last one: not every client of gRPC reaches what it reaches over HTTP.
      ...(grpcAddress === undefined
        ? []
        : [interfaceAt({ url: grpcAddress, protocolBinding: "GRPC", tenant: id })]),
    ],
    provider: undefined,
    capabilities: {
      streaming: true,
      pushNotifications,
      extendedAgentCard: false,
      extensions: [usage],
    },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: "httpAuthSecurityScheme",
          value: { scheme: "Bearer", bearerFormat: "", description: "A token of this deployment." },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: skills.length > 0 ? skills.map(skillOf) : [skillOf({ id, name, description })],
    signatures: [],
  };
}

function interfaceAt(
  given: Pick<AgentInterface, "url" | "protocolBinding"> & Partial<AgentInterface>,
): AgentInterface {
  return { tenant: "", protocolVersion: A2A_PROTOCOL_VERSION, ...given };
}

function skillOf({
  id,
  name,
  description,
  tags = [],
  examples = [],
}: Pick<A2aSkill, "id" | "name" | "description"> &
  Partial<Pick<A2aSkill, "tags" | "examples">>): AgentSkill {
  return {
    id,
    name,
    description: description || name,
    // The protocol requires a tag.
    tags: tags.length > 0 ? [...tags] : [id],
    examples: [...examples],
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}
