import type { V1ServiceSpec } from "@kubernetes/client-node";
import { publicServices } from "../support/public-services.ts";
import type { KubernetesObject } from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import { ofKind } from "../support/manifests.ts";

interface RouteSpec {
  readonly hostnames?: readonly string[];
  readonly rules: readonly {
    readonly matches?: readonly {
      readonly method?: { readonly service?: string };
      readonly path?: { readonly type?: string; readonly value?: string };
    }[];
    readonly backendRefs: readonly { readonly name: string; readonly port: number }[];
    readonly timeouts?: Readonly<Record<string, string>>;
  }[];
}

/** The world reaches exactly the services of the contracts, at hostnames of their own, for as long as a stream lasts. */
export function routes(objects: readonly KubernetesObject[]): readonly string[] {
  const all = ofKind(objects, "GRPCRoute", "HTTPRoute");
  const hosts = all.flatMap((route) => (route.spec as RouteSpec).hostnames ?? []);
  const shared = hosts.filter((host, index) => hosts.indexOf(host) !== index);
  return [
    ...shared.map((host) => `two routes are for ${host}`),
    ...all.flatMap((route) => {
      const { rules } = route.spec as RouteSpec;
      const open = rules.flatMap(({ matches = [] }) => matches).map(openedBy);
      return [
        ...publicServices
          .filter((service) => !open.includes(service))
          .map((service) => `${nameOf(route)} does not lead to ${service}`),
        ...open
          .filter((service) => !publicServices.includes(service))
          .map((service) => `${nameOf(route)} opens ${service || "everything"}`),
        ...rules.flatMap((rule) => backendProblems(objects, route, rule)),
      ];
    }),
  ];
}

function openedBy(match: NonNullable<RouteSpec["rules"][number]["matches"]>[number]): string {
  return match.method?.service ?? match.path?.value?.replace(/^\//, "") ?? "";
}

function backendProblems(
  objects: readonly KubernetesObject[],
  route: KubernetesObject,
  { backendRefs, timeouts }: RouteSpec["rules"][number],
): readonly string[] {
  const services = ofKind(objects, "Service");
  const ends = route.kind === "HTTPRoute" && timeouts?.["request"] !== "0s";
  return [
    ...(ends ? [`${nameOf(route)} ends streams`] : []),
    ...backendRefs.flatMap(({ name, port }) => {
      const found = services.find(({ metadata }) => metadata.name === name);
      const served = found && (found.spec as V1ServiceSpec).ports?.find((one) => one.port === port);
      if (served === undefined)
        return [`${nameOf(route)} leads to ${name}:${port}, which there is not`];
      return served.appProtocol === "kubernetes.io/h2c"
        ? []
        : [`${nameOf(route)} leads to ${name}, which is not known to speak HTTP/2`];
    }),
  ];
}
