import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";

/** A workspace of this repository, with the parts of its manifest that a release reads. */
export interface Workspace {
  readonly name: string;
  readonly version: string;
  /** Relative to the root. */
  readonly folder: string;
  /** The source file of each subpath that other workspaces may import, relative to the folder. */
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const strings = z.record(z.string(), z.string()).default({});
const shape = z.object({
  name: z.string(),
  version: z.string().default(""),
  exports: strings,
  imports: strings,
  dependencies: strings,
});

/** Reads the workspaces of which packages consist. */
export function readWorkspaces(root: string): readonly Workspace[] {
  const patterns = ["packages/*", "services/*", "cli", "sdk/typescript"];
  return globSync(
    patterns.map((pattern) => `${pattern}/package.json`),
    { cwd: root },
  ).map((file) => ({
    ...shape.parse(JSON.parse(readFileSync(join(root, file), "utf8"))),
    folder: dirname(file),
  }));
}
