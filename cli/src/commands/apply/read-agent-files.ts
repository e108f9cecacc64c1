import { defaultAgentId } from "@reeve/agent/spec/default-agent-id";
import type { AgentSpec } from "@reeve/client";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { openAgentFile } from "../../files/agent-file.ts";
import type { Terminal } from "../../terminal.ts";

/** Something that is wrong with an agent file. */
export interface FileProblem extends Violation {
  readonly file: string;
}

/** An agent file. */
export interface ReadAgentFile {
  readonly file: string;
  /** What the file describes. Has the id that follows from the name if the file has none. */
  readonly spec: AgentSpec;
  /** What is wrong with the shape of the file. */
  readonly shape: readonly Violation[];
}

/** Agent files, and what is wrong with those that could not be read, or have the same id as an earlier one. */
export interface ReadAgentFiles {
  readonly files: readonly ReadAgentFile[];
  readonly problems: readonly FileProblem[];
}

/** Reads agent files. No two of the result have the same id. */
export async function readAgentFiles(
  paths: readonly string[],
  terminal: Pick<Terminal, "read">,
): Promise<ReadAgentFiles> {
  const files: ReadAgentFile[] = [];
  const fileOf = new Map<string, string>();
  const problems: FileProblem[] = [];
  for (const file of paths) {
    const read = await readOne(file, terminal);
    if (read instanceof Failure) {
      problems.push(...problemsOf(file, read));
      continue;
    }
    const { id } = read.spec;
    const other = fileOf.get(id);
    if (other === undefined) {
      files.push(read);
      // The validation reports a file that has neither an id nor a name with letters.
      if (id !== "") fileOf.set(id, file);
    } else {
      const description = `${other} has an agent with the id "${id}" too; remove one, or give it another id`;
      problems.push({ file, field: "id", description, reason: "REPEATED_ID" });
    }
  }
  return { files, problems };
}

async function readOne(
  file: string,
  terminal: Pick<Terminal, "read">,
): Promise<ReadAgentFile | Failure> {
  try {
    const { spec: given, violations: shape } = await openAgentFile(file, terminal);
    const id = given.id === "" ? defaultAgentId(given.name) : given.id;
    return { file, spec: { ...given, id }, shape };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function problemsOf(file: string, { violations, message }: Failure): readonly FileProblem[] {
  if (violations.length > 0) return violations.map((violation) => ({ file, ...violation }));
  return [{ file, field: "", description: message, reason: "UNREADABLE" }];
}
