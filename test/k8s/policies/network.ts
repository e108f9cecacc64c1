import type {
  KubernetesObject,
  NetworkPolicy,
  Peer,
  PolicyPort,
} from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import type { Workload } from "../support/manifests.ts";
import { hasPort, ofKind, selects, workloadsOf } from "../support/manifests.ts";

/** Each namespace with pods denies all traffic that no policy allows. */
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

/** The selectors and ports of a policy match existing pods, on both sides. */
export function networkSelectors(objects: readonly KubernetesObject[]): readonly string[] {
  const workloads = workloadsOf(objects);
  return ofKind(objects, "NetworkPolicy").flatMap((policy) => {
    const { podSelector = {}, ingress = [], egress = [] } = policy.spec as NetworkPolicy;
    const name = nameOf(policy);
    const meant = workloads.filter(({ labels }) => selects(podSelector, labels));
    const unmatched = meant.length === 0 ? [`${name} selects no pod`] : [];
    const incoming = ingress.flatMap(({ from = [], ports = [] }) => [
      ...(from.length === 0 ? [`${name} allows all ingress`] : []),
      ...from.flatMap((peer) => peerProblems(name, peer, workloads)),
      ...portProblems(name, ports, meant),
    ]);
    const outgoing = egress.flatMap(({ to = [], ports = [] }) => [
      ...(to.length === 0 ? [`${name} allows all egress`] : []),
      ...(ports.length === 0 ? [`${name} allows egress to every port`] : []),
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
    return [...unmatched, ...incoming, ...outgoing];
  });
}

/** Peers in another namespace are not part of the deployment. */
function peerProblems(
  name: string,
  { podSelector, namespaceSelector }: Peer,
  workloads: readonly Workload[],
): readonly string[] {
  if (podSelector === undefined || namespaceSelector !== undefined) return [];
  return workloads.some(({ labels }) => selects(podSelector, labels))
    ? []
    : [`${name} names a missing peer`];
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

const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"];
const closedRanges = [...privateRanges, "169.254.0.0/16"];
/** The ports of an API server. */
const apiPorts = new Set<unknown>([443, 6443]);
/** The ports of webhooks and of mail servers. */
const receiverPorts = new Set<unknown>([443, 465, 587]);

function isHttps({ port }: PolicyPort): boolean {
  return port === 443;
}

function isNear({ cidr }: { readonly cidr: string }): boolean {
  return privateRanges.includes(cidr);
}

/**
 * Only the runtime, approvals for notifications, and the gateway for its identity provider have egress to the internet, and to
 * nothing else outside the cluster; only toolhosts access the API server.
 */
export function internet(objects: readonly KubernetesObject[]): readonly string[] {
  return ofKind(objects, "NetworkPolicy").flatMap((policy) => {
    const { podSelector, egress = [] } = policy.spec as NetworkPolicy;
    const opened = egress.flatMap(({ to = [], ports = [] }) =>
      to.flatMap(({ ipBlock }) =>
        ipBlock === undefined ? [] : { cidr: ipBlock.cidr, except: ipBlock.except, ports },
      ),
    );
    const { "app.kubernetes.io/name": reader } = podSelector?.matchLabels ?? {};
    const near = opened.filter(isNear);
    const far = opened.filter((block) => !isNear(block));
    const isForApi = near.every(({ ports }) => ports.every(({ port }) => apiPorts.has(port)));
    const isForReceivers = far.every(
      ({ ports }) => ports.length > 0 && ports.every(({ port }) => receiverPorts.has(port)),
    );
    const isForProvider = far.every(({ ports }) => ports.length > 0 && ports.every(isHttps));
    const isNeeded =
      reader === "runtime" ||
      (reader === "approvals" && isForReceivers) ||
      (reader === "gateway" && isForProvider);
    return [
      ...(near.length === 0 || (reader === "toolhost" && isForApi)
        ? []
        : [`${nameOf(policy)} opens the network beside the cluster`]),
      ...(far.length === 0 || isNeeded
        ? []
        : [`${nameOf(policy)} opens the internet to other pods`]),
      ...(far.length === 0 ? [] : closedRanges)
        .filter((range) => far.some(({ except = [] }) => !except.includes(range)))
        .map((range) => `${nameOf(policy)} opens ${range}`),
    ];
  });
}

/** Pods that run untrusted code, in any namespace. */
const sandbox = { "app.kubernetes.io/name": "sandbox" };

/** No policy allows traffic to or from a sandbox. */
export function sandboxNetwork(objects: readonly KubernetesObject[]): readonly string[] {
  return ofKind(objects, "NetworkPolicy").flatMap((policy) => {
    const { podSelector = {}, ingress = [], egress = [] } = policy.spec as NetworkPolicy;
    const isOpen = ingress.length + egress.length > 0 && selects(podSelector, sandbox);
    return isOpen ? [`${nameOf(policy)} opens sandboxes`] : [];
  });
}
