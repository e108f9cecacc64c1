/** An answer of an API server, recorded verbatim in all parts that the driver reads. */
export interface Answer {
  readonly status: number;
  readonly body: object;
}

function failed(code: number, reason: string, message: string): Answer {
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" };
  return { status: code, body: { ...head, message, reason, code } };
}

const account = 'User "system:serviceaccount:reeve:toolhost"';

export const answers = {
  notFound: (kind: string, name: string) => failed(404, "NotFound", `${kind} "${name}" not found`),
  conflict: (kind: string, name: string) =>
    failed(409, "AlreadyExists", `${kind} "${name}" already exists`),
  forbidden: (verb: string, resource: string) =>
    failed(
      403,
      "Forbidden",
      `${resource.split("/")[0]} is forbidden: ${account} cannot ${verb} resource "${resource}" in API group "" in the namespace "reeve"`,
    ),
  quota: failed(
    403,
    "Forbidden",
    'pods "reeve-sandbox-x" is forbidden: exceeded quota: sandboxes, requested: count/pods=1, used: count/pods=50, limited: count/pods=50',
  ),
  noRuntimeClass: (name: string) =>
    failed(
      403,
      "Forbidden",
      `pods "reeve-sandbox-x" is forbidden: pod rejected: RuntimeClass "${name}" not found`,
    ),
  podSecurity: failed(
    403,
    "Forbidden",
    'pods "reeve-sandbox-x" is forbidden: violates PodSecurity "restricted:latest": seccompProfile (pod must set securityContext.seccompProfile.type)',
  ),
  expired: failed(410, "Expired", "too old resource version: 1 (5)"),
  away: failed(503, "ServiceUnavailable", "apiserver not ready"),
};

const waitingFor = (reason: string, message: string) => ({
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "True" }],
  containerStatuses: [{ name: "sandbox", state: { waiting: { reason, message } } }],
});

/** Recorded statuses of pods, as kubelets and schedulers write them. */
export const statuses = {
  creating: waitingFor("ContainerCreating", ""),
  running: {
    phase: "Running",
    conditions: [{ type: "PodScheduled", status: "True" }],
    containerStatuses: [
      { name: "sandbox", state: { running: { startedAt: "2026-01-01T00:00:00Z" } } },
    ],
  },
  noImage: waitingFor(
    "ImagePullBackOff",
    'Back-off pulling image "registry.example/reeve-sandbox:0.1.0": not found',
  ),
  noProgram: {
    phase: "Failed",
    containerStatuses: [
      {
        name: "sandbox",
        state: {
          terminated: {
            exitCode: 128,
            reason: "StartError",
            message: 'exec: "/usr/bin/python3": stat /usr/bin/python3: no such file or directory',
          },
        },
      },
    ],
  },
  noRoom: {
    phase: "Pending",
    conditions: [
      {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: "0/3 nodes are available: 3 Insufficient memory.",
      },
    ],
  },
  evicted: {
    phase: "Failed",
    reason: "Evicted",
    message: "The node was low on resource: memory.",
  },
  overfull: {
    phase: "Failed",
    reason: "Evicted",
    message: 'Usage of EmptyDir volume "workspace" exceeds the limit "1280Mi". ',
  },
  outOfMemory: {
    phase: "Failed",
    containerStatuses: [
      { name: "sandbox", state: { terminated: { exitCode: 137, reason: "OOMKilled" } } },
    ],
  },
  done: {
    phase: "Succeeded",
    containerStatuses: [
      { name: "sandbox", state: { terminated: { exitCode: 0, reason: "Completed" } } },
    ],
  },
};
