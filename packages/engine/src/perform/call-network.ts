import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  permittedCredentials,
  wereCredentialsWithheld,
  withheldDestination,
} from "@reeve/agent/policy/apply-policy";
import type { CallerPolicy } from "@reeve/agent/policy/caller-policy";
import type { ToolDescriptor, ToolSettingsSchema } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { workingAgent } from "../domain/delegates/working-agent.ts";
import type { Frame } from "../domain/state/frame.ts";
import type { RunState } from "../domain/state/run-state.ts";

/** The settings of a call that open the network. */
type NetworkSettings = Pick<
  Exclude<MessageInitShape<typeof ToolSettingsSchema>, { readonly $typeName: string }>,
  "networkAllow" | "networkAllowWithCredentials" | "networkCredentials"
>;

/** The classes of built-in tools that use the network. */
const networkClasses: readonly PermissionClass[] = [
  PermissionClass.EXECUTE,
  PermissionClass.NETWORK,
];

/** Returns what a call may reach, and the credentials that it uses there, as far as the policy of now allows. */
export function networkSettings(
  state: RunState,
  frame: Frame,
  policy: CallerPolicy,
): NetworkSettings {
  const networkAllow = [...destinationsOf(state, frame, policy)];
  const networkCredentials = [...credentialsOf(state, frame, policy)];
  // A toolhost that does not know credentials then gives the call no network, whenever it takes it.
  return networkCredentials.length === 0
    ? { networkAllow }
    : { networkAllowWithCredentials: networkAllow, networkCredentials };
}

/** Whether the calls of a tool use credentials for hosts, as code, commands, and web tools do. */
export function usesCredentials(
  state: RunState,
  frame: Frame,
  { source, permissionClass }: ToolDescriptor,
  policy: CallerPolicy,
): boolean {
  return (
    source === "builtin" &&
    networkClasses.includes(permissionClass) &&
    credentialsOf(state, frame, policy).length > 0 &&
    destinationsOf(state, frame, policy).length > 0
  );
}

/**
 * Returns the credentials of the agent of the run; a delegate has none, as it has no secrets. What the run was prepared without stays
 * away, whatever the policy of now allows.
 */
function credentialsOf(state: RunState, frame: Frame, policy: CallerPolicy): readonly string[] {
  const { spec, prepared } = workingAgent(state, frame);
  const isDelegate = frame.delegate !== undefined;
  if (spec === undefined || isDelegate || wereCredentialsWithheld(prepared?.policy)) return [];
  return permittedCredentials(policy, spec).permitted;
}

/** The destinations of the agent of a frame when the run was prepared, as far as the policy of now allows. */
function destinationsOf(state: RunState, frame: Frame, policy: CallerPolicy): readonly string[] {
  const { spec, prepared } = workingAgent(state, frame);
  const atStart = prepared?.policy?.networkAllow ?? spec?.deepAgent?.network?.allow ?? [];
  return atStart.filter((text) => withheldDestination(policy, text) === undefined);
}
