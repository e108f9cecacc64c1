import type { V1OwnerReference, V1Pod } from "@kubernetes/client-node";
import { bootstrapProgram } from "../programs/programs.ts";
import type { SessionSpec } from "../port.ts";
import { defaultLimits } from "../port.ts";

export const containerName = "sandbox";
/** Labels of all objects that drivers create, by which they are found again. */
export const labels = {
  name: "app.kubernetes.io/name",
  owner: "reeve.dev/owner",
  session: "reeve.dev/session",
  deadline: "reeve.dev/deadline",
} as const;
export const sandboxName = "sandbox";

/** A sandbox does not keep the cluster autoscaler from removing its node, because its workspace is restored in another pod. */
const annotations = { "cluster-autoscaler.kubernetes.io/safe-to-evict": "true" };

/** Maximum lifetime of a sandbox, even if its toolhost dies. */
export const maxLifeS = 4 * 3_600;
const tmpBytes = 256 * 2 ** 20;
/**
 * Space beyond the workspace limit. The kubelet measures only periodically and evicts the pod, so its limit is above the one
 * that commands must keep.
 */
const spareWorkspaceBytes = 256 * 2 ** 20;

export interface PodSettings {
  readonly name: string;
  readonly namespace: string;
  readonly owner: string;
  /** Without a controller, `kubectl drain` refuses to evict the pod. */
  readonly controller: V1OwnerReference;
  readonly image: string;
  /** User and group of all processes. */
  readonly uid: number;
  readonly runtimeClass: string | undefined;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
}

/** Returns the pod of one sandbox, within Pod Security level "restricted". Each setting prevents an attack or saves resources. */
export function podManifest(
  { memoryBytes }: Pick<SessionSpec, "memoryBytes">,
  { name, namespace, owner, controller, image, uid, runtimeClass, now }: PodSettings,
): V1Pod {
  const storage = quantity(defaultLimits.workspaceBytes + spareWorkspaceBytes);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: labelsOf(name, owner, now),
      annotations,
      ownerReferences: [controller],
    },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: maxLifeS,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "None",
      // The API requires a name server. Nothing listens on this one.
      dnsConfig: { nameservers: ["127.0.0.1"] },
      hostname: "sandbox",
      ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: uid,
        runAsGroup: uid,
        fsGroup: uid,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: containerName,
          image,
          imagePullPolicy: "IfNotPresent",
          command: [...bootstrapCommand],
          workingDir: "/workspace",
          // When the toolhost is gone, the kubelet closes the pipe, and the agent ends.
          stdin: true,
          stdinOnce: true,
          tty: false,
          securityContext: {
            allowPrivilegeEscalation: false,
            privileged: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: {
            requests: { cpu: "100m", memory: "128Mi", "ephemeral-storage": "64Mi" },
            limits: { cpu: "2", memory: quantity(memoryBytes), "ephemeral-storage": storage },
          },
          volumeMounts: [
            { name: "workspace", mountPath: "/workspace" },
            { name: "tmp", mountPath: "/tmp" },
          ],
        },
      ],
      volumes: [
        { name: "workspace", emptyDir: { sizeLimit: storage } },
        { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: quantity(tmpBytes) } },
      ],
    },
  };
}

function quantity(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  if (!Number.isInteger(mebibytes)) return String(bytes);
  return mebibytes % 1_024 === 0 ? `${mebibytes / 1_024}Gi` : `${mebibytes}Mi`;
}

/** Returns the labels of a pod or a claim: its owner, session, and deadline in seconds since 1970. */
export function labelsOf(session: string, owner: string, now: number): Record<string, string> {
  return {
    [labels.name]: sandboxName,
    [labels.owner]: owner,
    [labels.session]: session,
    [labels.deadline]: String(Math.floor(now / 1_000) + maxLifeS),
  };
}

/** Command of a sandbox until it receives its agent. The template of a warm pool has the same one. */
const bootstrapCommand: readonly string[] = [
  "/usr/bin/python3",
  "-I",
  "-B",
  "-c",
  bootstrapProgram,
];
