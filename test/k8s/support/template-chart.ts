import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { parse, parseAllDocuments } from "yaml";
import type { KubernetesObject } from "./kubernetes-object.ts";

const helm = findProgram("helm");
const go = findProgram("go");

/** Why charts cannot be rendered on this machine, or undefined if they can. */
export const noTemplates =
  helm === undefined && go === undefined ? "neither helm nor go is on the PATH" : undefined;

/** Values of a chart, by section. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the objects that Helm creates from the files of a chart in the namespace `reeve`, with values in addition to its own.
 * Without Helm, executes the templates with the engine that Helm uses.
 */
export function templateChart(
  files: ReadonlyMap<string, string>,
  values: Readonly<Record<string, Values | string>>,
): readonly KubernetesObject[] {
  const output = helm === undefined ? withGo(files, values) : withHelm(helm, files, values);
  return parseAllDocuments(output)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

function withHelm(
  program: string,
  files: ReadonlyMap<string, string>,
  values: Readonly<Record<string, unknown>>,
): string {
  const folder = mkdtempSync(join(tmpdir(), "reeve-chart-"));
  try {
    for (const [path, text] of [...files, ["more.json", JSON.stringify(values)] as const]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const args = ["template", "reeve", folder, "--namespace", "reeve", "--kube-version", "1.36.0"];
    return run(program, [...args, "--values", join(folder, "more.json")], "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withGo(
  files: ReadonlyMap<string, string>,
  more: Readonly<Record<string, Values | string>>,
): string {
  const own = parse(files.get("values.yaml") ?? "") as Readonly<Record<string, Values | string>>;
  const merged = Object.entries(more).map(([name, value]) => {
    const before = own[name];
    const areMaps = typeof value === "object" && typeof before === "object";
    return [name, areMaps ? { ...before, ...value } : value] as const;
  });
  const values = { ...own, ...Object.fromEntries(merged) };
  const templates = Object.fromEntries(
    [...files].filter(([path]) => path.startsWith("templates/")),
  );
  const program = join(import.meta.dirname, "execute-templates.go");
  return run(go ?? "go", ["run", program], JSON.stringify({ values, templates }));
}

function run(program: string, args: readonly string[], input: string): string {
  return execFileSync(program, args, { encoding: "utf8", input, maxBuffer: 64 * 1024 * 1024 });
}
