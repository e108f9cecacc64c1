import { fromBinary } from "@bufbuild/protobuf";
import { parseSkill } from "@reeve/agent/skills/parse-skill";
import type { SkillFile } from "@reeve/agent/skills/skill";
import { SkillContentSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { MountedSkill } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { Failure } from "@reeve/platform/failure";

/** More than a skill may have, with the paths of its files. */
const maxContentBytes = 8 * 2 ** 20;

/**
 * Returns the files of a version of a skill from the artifacts of a tenant. Throws a Failure that names the skill if they are missing, are not
 * what the digest says, or have paths that leave the folder of the skill.
 */
export async function readSkill(
  tenant: string,
  { name, digest, artifactId }: MountedSkill,
  artifacts: Pick<ArtifactStore, "read">,
  signal: AbortSignal,
): Promise<readonly SkillFile[]> {
  const refuse = (problem: string) => refused(name, artifactId, problem);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of artifacts.read(tenant, artifactId, signal)) {
    size += chunk.length;
    if (size > maxContentBytes) throw refuse(`has more than ${maxContentBytes} bytes`);
    chunks.push(chunk);
  }
  const files = filesOf(Buffer.concat(chunks));
  const parsed = files && parseSkill(name, files);
  if (files === undefined || parsed === undefined || !("skill" in parsed)) {
    throw refuse("is no skill of this name");
  }
  if (parsed.skill.descriptor.digest !== digest) throw refuse("has another version");
  if (!files.every(({ path }) => isInside(path))) throw refuse("has files outside of its folder");
  return files;
}

function filesOf(bytes: Uint8Array): readonly SkillFile[] | undefined {
  try {
    return fromBinary(SkillContentSchema, bytes).files;
  } catch {
    return undefined;
  }
}

const noNames: ReadonlySet<string> = new Set(["", ".", ".."]);

/** Whether a path stays below the folder to which it is relative. */
function isInside(path: string): boolean {
  return !/[\p{Cc}\\]/u.test(path) && !path.split("/").some((part) => noNames.has(part));
}

function refused(name: string, artifactId: string, problem: string): Failure {
  const message = `the skill ${name} cannot be mounted: artifact ${artifactId} ${problem}; delete it, and the runtime stores the skill again`;
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, message);
}
