import type {
  V1Container,
  V1LabelSelector,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1PodSpec,
} from "@kubernetes/client-node";

export type Labels = Readonly<Record<string, string>>;

/** An object as it is sent to a cluster. Its schema is checked apart; whoever reads it says what it takes it for. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels };
  spec?: unknown;
  data?: Record<string, string>;
  rules?: unknown;
  automountServiceAccountToken?: boolean;
}

export type Peer = V1NetworkPolicyPeer;
export type PolicyPort = V1NetworkPolicyPort;

/** The client of Kubernetes has another name for `from`. */
export interface NetworkPolicy {
  readonly podSelector?: Selector;
  readonly policyTypes?: readonly string[];
  readonly ingress?: readonly { readonly from?: Peer[]; readonly ports?: PolicyPort[] }[];
  readonly egress?: readonly { readonly to?: Peer[]; readonly ports?: PolicyPort[] }[];
}

export type Container = V1Container;
export type PodSpec = V1PodSpec;
export type Selector = V1LabelSelector;

/** `Kind name`, for messages. */
export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}
