import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { parseAllDocuments } from "yaml";
import type { KubernetesObject } from "./kubernetes-object.ts";

/** The root folder of this repository. */
export const repository = join(import.meta.dirname, "../../..");

/** The programs that can render, with their arguments. */
const renderers = [
  { name: "kubectl", args: ["kustomize"] },
  { name: "kustomize", args: ["build"] },
] as const;

/** The renderer on this machine, if one is installed. */
export const renderer = renderers
  .map(({ name, args }) => ({ program: findProgram(name), args }))
  .find(({ program }) => program !== undefined);

/** Why manifests cannot be rendered on this machine. */
export const noRenderer =
  "neither kubectl (1.25 or later) nor kustomize (4.5 or later) is on the PATH";

/** Returns the rendered objects of a kustomization in this repository. */
export function render(folder: string): readonly KubernetesObject[] {
  if (renderer?.program === undefined) throw new Error(noRenderer);
  const output = execFileSync(renderer.program, [...renderer.args, join(repository, folder)], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return parseAllDocuments(output).map((document) => document.toJS() as KubernetesObject);
}
