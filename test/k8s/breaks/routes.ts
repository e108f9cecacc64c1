import type { Break } from "./break.ts";

/** Routes that lead nowhere, too far, or end what is to last. */
export const routeBreaks: readonly Break[] = [
  [
    "routes",
    "a service that is not led to",
    (find) => find("GRPCRoute", "grpc").spec.rules[0].matches.pop(),
    "does not lead to reeve.tool.v1.WorkspaceService",
  ],
  [
    "routes",
    "a path that is for nobody outside",
    (find) =>
      find("HTTPRoute", "http").spec.rules[0].matches.push({
        path: { type: "PathPrefix", value: "/metrics" },
      }),
    "opens metrics",
  ],
  [
    "routes",
    "streams that end",
    (find) => delete find("HTTPRoute", "http").spec.rules[0].timeouts,
    "ends streams",
  ],
  [
    "routes",
    "a service that is not known for HTTP/2",
    (find) => delete find("Service", "gateway").spec.ports[0].appProtocol,
    "not known to speak HTTP/2",
  ],
  [
    "routes",
    "one hostname for two",
    (find) => (find("HTTPRoute", "http").spec.hostnames = ["grpc.reeve.example"]),
    "two routes",
  ],
];
