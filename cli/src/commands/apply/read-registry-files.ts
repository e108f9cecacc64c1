import type { ModelSpec, ProviderSpec } from "@reeve/contracts/agent";
import { Failure } from "@reeve/platform/failure";
import { readSmallFile } from "../../files/small-file.ts";
import type { FileProblem } from "./read-agent-files.ts";

const maxBytes = 1_048_576;

/** An entry of the registry of models, and its file. */
interface FileEntry<Spec> {
  readonly file: string;
  readonly spec: Spec;
}

/** The models and providers of files. */
export interface RegistryFiles {
  readonly providers: readonly FileEntry<ProviderSpec>[];
  readonly models: readonly FileEntry<ModelSpec>[];
}

/** The files among others that describe models and providers, and not an agent. */
export interface FoundRegistry {
  /** Undefined: there is no such file. */
  readonly registry: RegistryFiles | undefined;
  /** The other files, in their order. */
  readonly others: readonly string[];
  readonly problems: readonly FileProblem[];
}

/** Reads the files with models and providers: those with `providers` or `models`, and without the fields of an agent. */
export async function readRegistryFiles(paths: readonly string[]): Promise<FoundRegistry> {
  const others: string[] = [];
  const problems: FileProblem[] = [];
  const providers: FileEntry<ProviderSpec>[] = [];
  const models: FileEntry<ModelSpec>[] = [];
  let hasRegistry = false;
  const { isRegistryFile } = await import("@reeve/agent/registry/is-registry-file");
  for (const file of paths) {
    const text = file === "-" ? "" : await readSmallFile(file, maxBytes).catch(() => "");
    if (!isRegistryFile(text)) {
      others.push(file);
      continue;
    }
    hasRegistry = true;
    // Only such a file needs its parser.
    const { parseStoredFile } = await import("@reeve/models/registry/stored-file");
    try {
      const parsed = parseStoredFile(text, file);
      providers.push(...parsed.providers.map((spec) => ({ file, spec })));
      models.push(...parsed.models.map((spec) => ({ file, spec })));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      problems.push(...problemsOf(file, error));
    }
  }
  return { registry: hasRegistry ? { providers, models } : undefined, others, problems };
}

function problemsOf(file: string, { violations, message }: Failure): readonly FileProblem[] {
  if (violations.length > 0) return violations.map((violation) => ({ file, ...violation }));
  return [{ file, field: "", description: message, reason: "MALFORMED" }];
}
