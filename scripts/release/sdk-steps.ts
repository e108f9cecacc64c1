/** How the client of a language is packed and published, with the commands of its ecosystem. */
export interface Step {
  readonly name: string;
  /** The folder in which the commands run. */
  readonly folder: string;
  readonly pack: readonly (readonly string[])[];
  /** Patterns of the packed files. */
  readonly archives: readonly string[];
  publish(version: string): readonly (readonly string[])[];
}

/** The clients in other languages. The Go module is published by its tag alone. */
export const sdkSteps: readonly Step[] = [
  {
    name: "python",
    folder: "sdk/python",
    pack: [["python3", "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", "dist", "."]],
    archives: ["dist/*.whl"],
    publish: () => [["python3", "-m", "twine", "upload", "dist/*.whl"]],
  },
  {
    name: "rust",
    folder: "sdk/rust",
    pack: [["cargo", "package", "-q", "--locked", "--no-verify", "--allow-dirty"]],
    archives: ["target/package/*.crate"],
    publish: () => [["cargo", "publish", "--locked"]],
  },
  {
    name: "java",
    folder: "sdk/java",
    pack: [["mvn", "-q", "-B", "package"]],
    archives: ["target/reeve-client-*.jar"],
    publish: () => [["mvn", "-q", "-B", "deploy"]],
  },
  {
    name: "go",
    folder: "sdk/go",
    pack: [["go", "vet", "./..."]],
    archives: [],
    publish: (version) => [
      ["git", "tag", `sdk/go/v${version}`],
      ["git", "push", "origin", `sdk/go/v${version}`],
    ],
  },
];
