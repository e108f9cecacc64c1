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

/** The part of a pod in the Kubernetes API that sandboxes need. */
export type Pod = z.infer<typeof podOf>;

/** Parses a pod. Throws if the object is not a pod. */
export function readPod(object: unknown): Pod {
  return podOf.parse(object);
}

export type PodState =
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "running" }
  /** The pod will not start without a change. */
  | { readonly kind: "stuck"; readonly why: string; readonly remedy: string }
  | { readonly kind: "over"; readonly why: string; readonly cause: EndCause };

/** Why a pod is over: it exceeded its memory or disk, or another reason. */
export type EndCause = "memory" | "disk" | "other";

const stuckReasons: Readonly<Record<string, keyof typeof remedies>> = {
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
const remedies = {
  pull: "set REEVE_SANDBOX_IMAGE to an image with a version that nodes can pull",
  config: "check kubectl describe pod, and the settings of the sandbox component",
  run: "the image needs /usr/bin/python3; build it with scripts/sandbox-image.ts",
} as const;

/** Returns the state of a pod. */
export function stateOfPod({ metadata, status = {} }: Pod): PodState {
  const { phase, reason, message, containerStatuses = [], conditions = [] } = status;
  const container = containerStatuses.find(({ name }) => name === containerName)?.state;
  const ended = container?.terminated;
  if (phase === "Failed" || phase === "Succeeded" || ended !== undefined) {
    const cause = causeOf(reason, ended?.reason, message);
    const parts = [reason ?? ended?.reason, message ?? ended?.message];
    const code = ended?.exitCode === undefined ? "" : `exit code ${ended.exitCode}`;
    return { kind: "over", why: joined([...parts, code]) || "it ended", cause };
  }
  if (metadata.deletionTimestamp !== undefined) {
    return { kind: "over", why: "it is being deleted", cause: "other" };
  }
  if (container?.running !== undefined) return { kind: "running" };
  const waiting = container?.waiting;
  const stuck = stuckReasons[waiting?.reason ?? ""];
  if (stuck !== undefined) {
    const why = joined([waiting?.reason, waiting?.message]);
    return { kind: "stuck", why, remedy: remedies[stuck] };
  }
  const scheduled = conditions.find(({ type }) => type === "PodScheduled");
  const why =
    scheduled?.status === "False"
      ? joined([scheduled.reason, scheduled.message])
      : joined([waiting?.reason ?? phase, waiting?.message]);
  return { kind: "waiting", why };
}

function causeOf(
  podReason: string | undefined,
  containerReason: string | undefined,
  message = "",
): EndCause {
  if (containerReason === "OOMKilled") return "memory";
  // Matches only the limits of the pod. A node under disk pressure evicts pods with another message.
  const isDisk = /exceeds the (?:total )?limit|exceeded its local/.test(message);
  return podReason === "Evicted" && isDisk ? "disk" : "other";
}

function joined(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(": ");
}
