import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";

/** What a run is started with, as far as an agent at an endpoint does not get it. */
interface EndpointInput {
  readonly outputSchema?: unknown;
  readonly clientTools?: unknown;
  readonly files: readonly unknown[];
  readonly messages: readonly unknown[];
}

/** Throws a Failure that names what a run of an agent at an endpoint would ignore: such an agent gets one message. */
export function assertReachesEndpoint(
  { endpoint }: Pick<AgentSpec, "endpoint">,
  { outputSchema, clientTools, files, messages }: EndpointInput,
): void {
  if (endpoint === undefined) return;
  const given: readonly (readonly [field: string, isGiven: boolean])[] = [
    ["output_schema", outputSchema !== undefined],
    ["client_tools", clientTools !== undefined],
    ["files", files.length > 0],
    ["messages", messages.length > 0],
  ];
  const violations = given
    .filter(([, isGiven]) => isGiven)
    .map(([field]) => ({
      field,
      description: `${field} would not reach the agent, which works elsewhere and gets one message; leave it out`,
      reason: unsupportedCapability,
    }));
  if (violations.length === 0) return;
  const list = violations.map(({ description }) => description).join("; ");
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, list, { violations });
}
