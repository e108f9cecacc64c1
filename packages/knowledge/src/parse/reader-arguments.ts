import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The program that reads documents, and what it reads itself. */
export interface ReaderProgram {
  readonly file: string;
  /** The files and folders of its code and its libraries. */
  readonly code: readonly string[];
}

/** Returns the program that reads documents: beside this file, or, in a bundle, the bundle of it beside this one. */
export function readerProgram(): ReaderProgram {
  const { filename, dirname: sources } = import.meta;
  if (!filename.endsWith(".ts")) {
    const folder = dirname(filename);
    return { file: join(folder, "document-reader.mjs"), code: [folder] };
  }
  const file = join(sources, "document-reader.ts");
  const libraries = ["unpdf", "htmlparser2", "fflate"].map((name) =>
    fileURLToPath(import.meta.resolve(name)),
  );
  const code = new Set([sources, ...libraries.map(nodeModulesOf), ...manifestsAbove(file)]);
  return { file, code: [...code] };
}

/** Returns the arguments with which Node runs a program that may read its code, and nothing else. */
export function readerArguments(
  { file, code }: ReaderProgram,
  maxMemoryBytes: number,
): readonly string[] {
  return [
    "--permission",
    ...code.map((path) => `--allow-fs-read=${path}`),
    "--no-warnings",
    `--max-old-space-size=${Math.floor(maxMemoryBytes / 2 / 1_048_576)}`,
    file,
  ];
}

function nodeModulesOf(file: string): string {
  const folder = `${sep}node_modules${sep}`;
  return file.slice(0, file.lastIndexOf(folder) + folder.length);
}

/** Node looks for the manifest of a module in the folders above it. */
function manifestsAbove(program: string): readonly string[] {
  const manifests: string[] = [];
  for (let folder = dirname(program); folder !== dirname(folder); folder = dirname(folder)) {
    manifests.push(join(folder, "package.json"));
  }
  return manifests;
}
