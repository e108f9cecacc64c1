import type {
  V1Container,
  V1LabelSelector,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1PodSpec,
} from "@kubernetes/client-node";

export type Labels = Readonly<Record<string, string>>;

/** An object in the form that is sent to a cluster. Schemas are checked separately; readers cast it to the type that they expect. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels; annotations?: Labels };
  spec?: unknown;
  data?: Record<string, string>;
  rules?: unknown;
  automountServiceAccountToken?: boolean;
}

export type Peer = V1NetworkPolicyPeer;
export type PolicyPort = V1NetworkPolicyPort;

/** The Kubernetes client names the field `from` differently. */
export interface NetworkPolicy {
  readonly podSelector?: Selector;
  readonly policyTypes?: readonly string[];
  readonly ingress?: readonly { readonly from?: Peer[]; readonly ports?: PolicyPort[] }[];
  readonly egress?: readonly { readonly to?: Peer[]; readonly ports?: PolicyPort[] }[];
}

export type Container = V1Container;
export type PodSpec = V1PodSpec;
export type Selector = V1LabelSelector;

/** Returns whether an object has this name, with or without a hash of its content. */
export function isNamed({ metadata }: Pick<KubernetesObject, "metadata">, name: string): boolean {
  return metadata.name === name || new RegExp(`^${name}-[a-z0-9]{10}$`).test(metadata.name);
}

/** Returns `Kind name`, for messages. */
export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}
