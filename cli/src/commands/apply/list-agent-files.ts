import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../exit-code.ts";

/** How many files one command reads at most. */
const maxFiles = 1_000;

/**
 * Returns the agent files that paths name, in alphabetical order for each path: a file is itself, a folder is its files with the
 * ending `.yaml`, `.yml`, or `.json`, without hidden ones and JSON Schemas (`.schema.json`). Throws a UsageError if a path does not exist, or a folder has no such file.
 */
export async function listAgentFiles(
  paths: readonly string[],
  { recursive }: { readonly recursive: boolean },
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const files = path === "-" ? [path] : await filesAt(path, recursive);
    if (files.length === 0) {
      throw new UsageError(`${path} has no agent file: none that ends in .yaml, .yml, or .json`);
    }
    for (const file of files) found.add(file);
    if (found.size > maxFiles) {
      throw new UsageError(`more than ${maxFiles} agent files; apply them in several parts`);
    }
  }
  return [...found];
}

async function filesAt(path: string, recursive: boolean): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new UsageError(`${path} does not exist`);
  return found.isDirectory() ? await filesIn(path, recursive) : [path];
}

async function filesIn(folder: string, recursive: boolean): Promise<readonly string[]> {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => {
      throw new UsageError(`${next} cannot be read`);
    });
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = join(next, entry.name);
      // A link to a folder is not followed, because it may lead back.
      if (entry.isDirectory() && recursive) folders.push(path);
      if (!/\.(?:ya?ml|json)$/i.test(entry.name) || /\.schema\.json$/i.test(entry.name)) continue;
      if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(path)))) files.push(path);
    }
    if (files.length > maxFiles) break;
  }
  return files.toSorted();
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
