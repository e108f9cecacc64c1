import { z } from "zod";
import { containerName } from "./spec.ts";

const stateOf = z.object({
  waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).optional(),
  running: z.unknown().optional(),
  terminated: z
    .object({
      reason: z.string().optional(),
      message: z.string().optional(),
      exitCode: z.number().optional(),
    })
    .optional(),
});
const podOf = z.object({
  metadata: z.object({
    name: z.string(),
    resourceVersion: z.string().optional(),
    deletionTimestamp: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
  status: z
    .object({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      conditions: z
        .array(
          z.object({
            type: z.string(),
            status: z.string(),
            reason: z.string().optional(),
            message: z.string().optional(),
          }),
        )
        .optional(),
      containerStatuses: z
        .array(z.object({ name: z.string(), state: stateOf.optional() }))
        .optional(),
    })
    .optional(),
});

/** A pod as the API tells it, as far as it matters to us. */
export type Pod = z.infer<typeof podOf>;

/** Throws for what is no pod. */
export function readPod(told: unknown): Pod {
  return podOf.parse(told);
}

export type PodState =
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "running" }
  /** It will not begin by itself. */
  | { readonly kind: "stuck"; readonly why: string; readonly remedy: string }
  | { readonly kind: "over"; readonly why: string; readonly cause: EndCause };

/** Why a pod is over: memory or disk that it used up, or something else. */
export type EndCause = "memory" | "disk" | "other";

const stuck: Readonly<Record<string, string>> = {
  ErrImagePull: "pull",
  ImagePullBackOff: "pull",
  InvalidImageName: "pull",
  ErrImageNeverPull: "pull",
  RegistryUnavailable: "pull",
  ImageInspectError: "pull",
  CreateContainerConfigError: "config",
  CreateContainerError: "config",
  RunContainerError: "run",
};
const ways: Readonly<Record<string, string>> = {
  pull: "let REEVE_SANDBOX_IMAGE name an image that nodes can pull, by its version",
  config: "see kubectl describe pod, and the settings of the sandbox component",
  run: "the image needs /usr/bin/python3: make it with scripts/sandbox-image.ts",
};

/** What has become of a pod. */
export function stateOfPod({ metadata, status = {} }: Pod): PodState {
  const { phase, reason, message, containerStatuses = [], conditions = [] } = status;
  const container = containerStatuses.find(({ name }) => name === containerName)?.state;
  const ended = container?.terminated;
  if (phase === "Failed" || phase === "Succeeded" || ended !== undefined) {
    const cause = causeOf(reason, ended?.reason, message);
    const told = [reason ?? ended?.reason, message ?? ended?.message];
    const code = ended?.exitCode === undefined ? "" : `exit code ${ended.exitCode}`;
    return { kind: "over", why: said([...told, code]) || "it ended", cause };
  }
  if (metadata.deletionTimestamp !== undefined) {
    return { kind: "over", why: "somebody deletes it", cause: "other" };
  }
  if (container?.running !== undefined) return { kind: "running" };
  const waits = container?.waiting;
  const way = ways[stuck[waits?.reason ?? ""] ?? ""];
  if (way !== undefined) {
    return { kind: "stuck", why: said([waits?.reason, waits?.message]), remedy: way };
  }
  const scheduled = conditions.find(({ type }) => type === "PodScheduled");
  const why =
    scheduled?.status === "False"
      ? said([scheduled.reason, scheduled.message])
      : said([waits?.reason ?? phase, waits?.message]);
  return { kind: "waiting", why };
}

function causeOf(
  podReason: string | undefined,
  containerReason: string | undefined,
  message = "",
): EndCause {
  if (containerReason === "OOMKilled") return "memory";
  // Of its own limits: a node that has too little for all says it otherwise.
  const isDisk = /exceeds the (?:total )?limit|exceeded its local/.test(message);
  return podReason === "Evicted" && isDisk ? "disk" : "other";
}

function said(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(": ");
}
