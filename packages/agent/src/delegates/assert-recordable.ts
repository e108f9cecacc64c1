import { toBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { SkillDescriptor } from "@reeve/contracts/agent";
import { SkillDescriptorSchema } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { ResolvedAgent, ResolvedDelegate } from "../resolve/resolved-agent.ts";
import { sharedWith } from "./shared-with.ts";

/** A batch of the log has a mebibyte, with the instructions and the first input of the run. */
const maxToolBytes = 640 * 1024;
/** Without delegates, nothing else of such a size is in the batch. */
const maxOwnBytes = 900 * 1024;

/** A descriptor of a catalog is in many resolutions. */
const sizes = new WeakMap<ToolDescriptor, number>();

/**
 * Throws a Failure if the log of a run cannot record the tools and skills of all its agents: those of the agent of the run once, and for each delegate
 * its skills, and the tools that the agent of the run does not have in the same form.
 */
export function assertRecordable(
  { tools, skills }: Pick<ResolvedAgent, "tools" | "skills">,
  delegates: readonly ResolvedDelegate[],
): void {
  if (delegates.length === 0) return assertOwnRecordable(tools);
  const isShared = sharedWith(tools);
  const own = delegates.flatMap(({ resolved }) => resolved.tools.filter((tool) => !isShared(tool)));
  const ofTools = [...tools, ...own].reduce((sum, tool) => sum + sizeOf(tool), 0);
  const allSkills = [...skills, ...delegates.flatMap(({ resolved }) => resolved.skills)];
  const bytes = allSkills.reduce((sum, skill) => sum + sizeOfSkill(skill), ofTools);
  if (bytes <= maxToolBytes) return;
  const description = `the descriptions of the tools and skills of the agent and its delegates, with the schemas of the tools, have ${bytes} bytes, and a run records ${maxToolBytes}; give the delegates fewer of them, or the agent of the run those that several delegates share`;
  throw new Failure("precondition", ErrorReason.INVALID_AGENT, `delegates: ${description}`, {
    violations: [{ field: "delegates", description, reason: "TOO_LARGE" }],
  });
}

function assertOwnRecordable(tools: readonly ToolDescriptor[]): void {
  const bytes = tools.reduce((sum, tool) => sum + sizeOf(tool), 0);
  if (bytes <= maxOwnBytes) return;
  const description = `the agent has ${tools.length} tools, whose descriptions and schemas have ${bytes} bytes, and a run records ${maxOwnBytes}; name those that it needs in allowed_tools or allowed_tool_patterns`;
  throw new Failure("precondition", ErrorReason.INVALID_AGENT, `allowed_tools: ${description}`, {
    violations: [{ field: "allowed_tools", description, reason: "TOO_LARGE" }],
  });
}

function sizeOf(tool: ToolDescriptor): number {
  const known = sizes.get(tool);
  if (known !== undefined) return known;
  const size = toBinary(ToolDescriptorSchema, tool).length;
  sizes.set(tool, size);
  return size;
}

function sizeOfSkill(skill: SkillDescriptor): number {
  return toBinary(SkillDescriptorSchema, skill).length;
}
