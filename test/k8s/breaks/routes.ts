import type { Break } from "./break.ts";

/** Routes to missing services, routes that expose too much, and routes that end streams. */
export const routeBreaks: readonly Break[] = [
  [
    "routes",
    "a service without a route",
    (find) => {
      const [rule] = find("GRPCRoute", "grpc").spec.rules;
      rule.matches = rule.matches.filter(
        ({ method }: { readonly method: { readonly service: string } }) =>
          method.service !== "reeve.workflow.v1.WorkflowService",
      );
    },
    "does not route to reeve.workflow.v1.WorkflowService",
  ],
  [
    "routes",
    "an internal path",
    (find) =>
      find("HTTPRoute", "http").spec.rules[0].matches.push({
        path: { type: "PathPrefix", value: "/metrics" },
      }),
    "opens metrics",
  ],
  [
    "routes",
    "an Ingress to every path",
    (_, objects) => {
      const backend = { service: { name: "gateway", port: { number: 80 } } };
      const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
      const [apiVersion, kind, metadata] = ["networking.k8s.io/v1", "Ingress", { name: "open" }];
      objects.push({ apiVersion, kind, metadata, spec: { rules: [{ host: "a.example", http }] } });
    },
    "Ingress open opens everything",
  ],
  [
    "routes",
    "a timeout for streams",
    (find) => delete find("HTTPRoute", "http").spec.rules[0].timeouts,
    "ends streams",
  ],
  [
    "routes",
    "a service without HTTP/2",
    (find) => delete find("Service", "gateway").spec.ports[0].appProtocol,
    "not declared as HTTP/2",
  ],
  [
    "routes",
    "one hostname for two routes",
    (find) => (find("HTTPRoute", "http").spec.hostnames = ["grpc.reeve.example"]),
    "two routes",
  ],
];
