import type { JsonObject } from "@bufbuild/protobuf";
import { utf8 } from "@reeve/agent/skills/parse-skill";
import type { Skill } from "@reeve/agent/skills/skill";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { resultBytesIn } from "../../domain/budget/frame-caps.ts";
import { workingAgent } from "../../domain/delegates/working-agent.ts";
import { textPart } from "../../domain/runtime-tools/text-part.ts";
import { numberArgument, textArgument } from "../../domain/runtime-tools/runtime-tool-result.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { frameOf } from "../../domain/state/run-state.ts";
import type { RunPorts } from "../../ports/run-ports.ts";

interface Opened {
  readonly content: string;
  readonly isError: boolean;
}

/**
 * Returns the instructions of a skill and the list of its files, or one of the files, in the version with which the run was prepared. Waits
 * for a process that does not have this version yet, and then says so by name: the model never reads two versions.
 */
export async function openSkill(
  state: RunState,
  frame: string,
  args: JsonObject,
  { skills, catalogs }: Pick<RunPorts, "skills"> & Partial<Pick<RunPorts, "catalogs">>,
  signal: AbortSignal,
): Promise<Opened> {
  const resultBytes = resultBytesIn(state, frameOf(state, frame));
  const failed = (content: string) => ({
    content: truncateToBytes(content, resultBytes),
    isError: true,
  });
  const pinned = workingAgent(state, frameOf(state, frame)).prepared?.skills ?? [];
  const name = textArgument(args, "name");
  const descriptor = pinned.find((each) => each.name === name);
  if (descriptor === undefined) {
    const known = pinned.map((each) => each.name).join(", ");
    return failed(`there is no skill "${name.slice(0, 100)}"; the skills are: ${known}`);
  }
  const { digest } = descriptor;
  await skills?.settle?.(() => skills.version(name, digest) !== undefined, signal);
  const skill = skills?.version(name, digest);
  if (skill === undefined) {
    return failed(
      `the runtime does not have version ${digest.slice(0, 12)} of the skill ${name}, with which this run was prepared; continue without it`,
    );
  }
  const path = textArgument(args, "file");
  const isMounted =
    skills?.artifactOf !== undefined &&
    (catalogs?.().tools ?? []).some(({ sandbox }) => sandbox?.mountsSkills === true);
  const text = path === "" ? withFiles(skill, isMounted) : textOfFile(skill, path);
  if (text === undefined) return failed(problemWith(skill, path));
  const part = textPart(text, numberArgument(args, "offset") ?? 0, resultBytes);
  return { content: part, isError: false };
}

function withFiles(
  { descriptor: { name }, instructions, files }: Skill,
  isMounted: boolean,
): string {
  if (files.length === 0) return instructions;
  const place = isMounted
    ? `; sandboxes for code, commands, and files have them as skills/${name} of the workspace, read-only`
    : "";
  const list = files.map(({ path, content }) => `- ${path} (${content.length} bytes)`);
  return `${instructions}\n\n[files of this skill, which open_skill reads with \`file\`${place}]\n${list.join("\n")}`;
}

function textOfFile({ files }: Skill, path: string): string | undefined {
  const file = files.find((each) => each.path === path);
  return file && utf8(file.content);
}

function problemWith({ descriptor: { name }, files }: Skill, path: string): string {
  const file = files.find((each) => each.path === path);
  if (file !== undefined) return `${path} of the skill ${name} is no text`;
  const known = files.slice(0, 50).map((each) => each.path);
  const list = known.length === 0 ? "it has no files" : `its files are: ${known.join(", ")}`;
  return `the skill ${name} has no file "${path.slice(0, 200)}"; ${list}`;
}
