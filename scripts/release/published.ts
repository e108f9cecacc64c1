/** An npm package that is compiled from a workspace and the workspaces that it imports. */
export interface PublishedPackage {
  readonly name: string;
  readonly description: string;
  /** The folder of the workspace. */
  readonly workspace: string;
  /** The files that the compilation starts with, relative to the root. */
  readonly entries: readonly string[];
  /** Further files and folders of the repository that the package needs at run time. */
  readonly files: readonly string[];
  /** The fields of the manifest that no other field determines. Paths are those of the repository. */
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** The compiled packages. `@reeve/client` has a build of its own, because its contracts have no validation rules. */
export const published: readonly PublishedPackage[] = [
  {
    name: "@reeve/cli",
    description: "Runs LLM agents that survive crashes, in sandboxes, with human approval.",
    workspace: "cli",
    entries: ["cli/bin/reeve.mjs"],
    files: [
      "examples/csv-report",
      "examples/release-check",
      "examples/scripts",
      ...["agent.yaml", "provider.py", "providers.json", "requirements.txt", "scripts"].map(
        (name) => `examples/tool-provider-python/${name}`,
      ),
      "proto/reeve/tool/v1/tool_provider.proto",
      "console/dist",
    ],
    manifest: { bin: { reeve: "./cli/bin/reeve.mjs" }, engines: { node: ">=20" } },
  },
  {
    name: "@reeve/local",
    description: "Runs LLM agents of Reeve in one process, without a server.",
    workspace: "packages/local",
    entries: ["packages/local/src/index.ts"],
    files: [],
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
];
