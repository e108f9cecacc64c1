import type { Break } from "./break.ts";

/** Routes to missing services, routes that expose too much, and routes that end streams. */
export const routeBreaks: readonly Break[] = [
  [
    "routes",
    "a service without a route",
    (find) => find("GRPCRoute", "grpc").spec.rules[0].matches.pop(),
    "does not route to reeve.tool.v1.WorkspaceService",
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
