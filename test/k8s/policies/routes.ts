import type { V1IngressSpec, V1ServiceSpec } from "@kubernetes/client-node";
import { publicPaths, publicServices } from "../support/public-services.ts";
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

/** Exactly the public services are exposed, at separate hostnames, without a timeout for streams. */
export function routes(objects: readonly KubernetesObject[]): readonly string[] {
  const all = ofKind(objects, "GRPCRoute", "HTTPRoute", "Ingress");
  const hosts = all.flatMap((route) => specOf(route).hostnames ?? []);
  const shared = hosts.filter((host, index) => hosts.indexOf(host) !== index);
  return [
    ...shared.map((host) => `two routes are for ${host}`),
    ...all.flatMap((route) => {
      const { rules } = specOf(route);
      const open = rules.flatMap(({ matches = [] }) => matches).map(openedBy);
      return [
        ...publicServices
          .filter((service) => !open.includes(service))
          .map((service) => `${nameOf(route)} does not route to ${service}`),
        ...open
          .filter((service) => ![...publicServices, ...publicPaths].includes(service))
          .map((service) => `${nameOf(route)} opens ${service || "everything"}`),
        ...rules.flatMap((rule) => backendProblems(objects, route, rule)),
      ];
    }),
  ];
}

/** Returns the routes of an object, those of an Ingress as a route has them. */
function specOf({ kind, spec }: KubernetesObject): RouteSpec {
  if (kind !== "Ingress") return spec as RouteSpec;
  const { rules = [] } = spec as V1IngressSpec;
  const paths = rules.flatMap(({ http }) => http?.paths ?? []);
  return {
    hostnames: rules.flatMap(({ host }) => host ?? []),
    rules: paths.map(({ path = "", pathType, backend: { service } }) => ({
      matches: [{ path: { type: pathType, value: path } }],
      backendRefs: [{ name: service?.name ?? "", port: service?.port?.number ?? 0 }],
    })),
  };
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
        return [`${nameOf(route)} routes to ${name}:${port}, which does not exist`];
      return served.appProtocol === "kubernetes.io/h2c"
        ? []
        : [`${nameOf(route)} routes to ${name}, which is not declared as HTTP/2`];
    }),
  ];
}
