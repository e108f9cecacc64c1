interface Published {
  readonly name: string;
  readonly description: string;
  /** The folder of the workspace. */
  readonly workspace: string;
}

/** A library that is compiled from a workspace and the workspaces that it imports. */
export interface PublishedLibrary extends Published {
  /** The files that the compilation starts with, relative to the root. */
  readonly entries: readonly string[];
  /** The fields of the manifest that no other field determines. Paths are those of the repository. */
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** A program that is published as a bundle. */
export interface PublishedProgram extends Published {
  /** The name of the command. */
  readonly program: string;
  /** Its first file, relative to the root. */
  readonly source: string;
  /** Further files and folders of the repository that it reads at run time. */
  readonly files: readonly string[];
  readonly engines: Readonly<Record<string, string>>;
}

export const publishedPrograms: readonly PublishedProgram[] = [
  {
    name: "@reeve/cli",
    description: "Runs LLM agents that survive crashes, in sandboxes, with human approval.",
    workspace: "cli",
    program: "reeve",
    source: "cli/bin/reeve.mjs",
    files: [
      "examples/csv-report",
      "examples/release-check",
      "examples/scripts",
      ...["agent.yaml", "provider.py", "providers.json", "requirements.txt", "scripts"].map(
        (name) => `examples/tool-provider-python/${name}`,
      ),
      "proto/reeve/tool/v1/tool_provider.proto",
      "console/dist",
      "docs/schemas",
    ],
    engines: { node: ">=20" },
  },
];

/** The libraries, without `@reeve/client`: it has a build of its own, because its contracts have no validation rules. */
export const publishedLibraries: readonly PublishedLibrary[] = [
  {
    name: "@reeve/local",
    description: "Runs LLM agents of Reeve in one process, without a server.",
    workspace: "packages/local",
    entries: ["packages/local/src/index.ts"],
    manifest: {
      exports: {
        ".": {
          types: "./packages/local/src/index.d.ts",
          default: "./packages/local/src/index.js",
        },
      },
      engines: { node: ">=24" },
    },
  },
  {
    name: "@reeve/plugin",
    description: "The types of plugins for Reeve, which runs LLM agents that survive crashes.",
    workspace: "packages/plugin",
    entries: ["packages/plugin/src/index.ts"],
    manifest: {
      exports: {
        ".": {
          types: "./packages/plugin/src/index.d.ts",
          default: "./packages/plugin/src/index.js",
        },
      },
    },
  },
];
