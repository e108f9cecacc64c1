import type {
  KubernetesObject,
  NetworkPolicy,
  Peer,
  PolicyPort,
} from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import type { Workload } from "../support/manifests.ts";
import { hasPort, ofKind, selects, workloadsOf } from "../support/manifests.ts";

/** In each namespace with pods nothing may be reached or reach out that no policy allows. */
export function defaultDeny(objects: readonly KubernetesObject[]): readonly string[] {
  const policies = ofKind(objects, "NetworkPolicy");
  const namespaces = new Set(workloadsOf(objects).map(({ object }) => object.metadata.namespace));
  return [...namespaces]
    .filter(
      (namespace) =>
        !policies.some((policy) => policy.metadata.namespace === namespace && deniesAll(policy)),
    )
    .map((namespace) => `namespace ${namespace} has no default-deny`);
}

function deniesAll(policy: KubernetesObject): boolean {
  const { podSelector, policyTypes = [], ingress, egress } = policy.spec as NetworkPolicy;
  return (
    Object.keys(podSelector ?? {}).length === 0 &&
    policyTypes.includes("Ingress") &&
    policyTypes.includes("Egress") &&
    ingress === undefined &&
    egress === undefined
  );
}

/** A policy means pods that there are, on both sides, and ports that they have. */
export function networkSelectors(objects: readonly KubernetesObject[]): readonly string[] {
  const workloads = workloadsOf(objects);
  return ofKind(objects, "NetworkPolicy").flatMap((policy) => {
    const { podSelector = {}, ingress = [], egress = [] } = policy.spec as NetworkPolicy;
    const name = nameOf(policy);
    const meant = workloads.filter(({ labels }) => selects(podSelector, labels));
    const nobody = meant.length === 0 ? [`${name} is for no pod`] : [];
    const incoming = ingress.flatMap(({ from = [], ports = [] }) => [
      ...(from.length === 0 ? [`${name} lets everybody in`] : []),
      ...from.flatMap((peer) => peerProblems(name, peer, workloads)),
      ...portProblems(name, ports, meant),
    ]);
    const outgoing = egress.flatMap(({ to = [], ports = [] }) => [
      ...(to.length === 0 ? [`${name} lets everything out`] : []),
      ...(ports.length === 0 ? [`${name} lets out to every port`] : []),
      ...to.flatMap((peer) => peerProblems(name, peer, workloads)),
      ...to
        .filter(({ namespaceSelector, podSelector: peers }) => peers && !namespaceSelector)
        .flatMap(({ podSelector: peers = {} }) =>
          portProblems(
            name,
            ports,
            workloads.filter(({ labels }) => selects(peers, labels)),
          ),
        ),
    ]);
    return [...nobody, ...incoming, ...outgoing];
  });
}

/** Peers in another namespace are not ours to know. */
function peerProblems(
  name: string,
  { podSelector, namespaceSelector }: Peer,
  workloads: readonly Workload[],
): readonly string[] {
  if (podSelector === undefined || namespaceSelector !== undefined) return [];
  return workloads.some(({ labels }) => selects(podSelector, labels))
    ? []
    : [`${name} names a peer that there is not`];
}

function portProblems(
  name: string,
  ports: readonly PolicyPort[],
  workloads: readonly Workload[],
): readonly string[] {
  return ports.flatMap(({ port }) =>
    workloads
      .filter((workload) => !hasPort(workload, port))
      .map((workload) => `${name} allows port ${port}, which ${workload.name} does not have`),
  );
}

/** Only the runtime reaches out of the cluster, and there only what is on the internet. */
export function internet(objects: readonly KubernetesObject[]): readonly string[] {
  return ofKind(objects, "NetworkPolicy").flatMap((policy) => {
    const { podSelector, egress = [] } = policy.spec as NetworkPolicy;
    const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    if (blocks.length === 0) return [];
    const { "app.kubernetes.io/name": reader } = podSelector?.matchLabels ?? {};
    const inside = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"];
    return [
      ...(reader === "runtime" ? [] : [`${nameOf(policy)} opens the internet to others`]),
      ...inside
        .filter((range) => blocks.some(({ except = [] }) => !except.includes(range)))
        .map((range) => `${nameOf(policy)} opens ${range}`),
    ];
  });
}
