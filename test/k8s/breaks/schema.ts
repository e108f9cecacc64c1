import type { Break } from "./break.ts";
import { container } from "./break.ts";

/** Objects that violate their schemas. */
export const schemaBreaks: readonly Break[] = [
  [
    "schema",
    "an unknown field",
    (find) => (find("Deployment", "gateway").spec.replica = 1),
    "replica",
  ],
  [
    "schema",
    "an unknown nested field",
    (find) => (container(find("Deployment", "gateway")).securityContext.readOnly = true),
    "readOnly",
  ],
  [
    "schema",
    "a number as a string",
    (find) => (container(find("Deployment", "gateway")).ports[0].containerPort = "80"),
    "must be number",
  ],
  [
    "schema",
    "a missing field",
    (find) => delete find("Deployment", "gateway").spec.selector,
    "'selector'",
  ],
  [
    "schema",
    "an unknown kind",
    (find) => (find("Deployment", "gateway").kind = "Deploy"),
    "unknown type",
  ],
  [
    "schema",
    "an unknown version",
    (find) => (find("ScaledObject", "toolhost").apiVersion = "keda.sh/v1"),
    "unknown type",
  ],
  [
    "schema",
    "an unknown field of a custom resource",
    (find) => (find("ScaledObject", "toolhost").spec.min = 1),
    "min",
  ],
  [
    "schema",
    "an unknown field of a pod in a custom resource",
    (find) => (find("SandboxTemplate", "sandbox").spec.podTemplate.spec.hostNet = true),
    "hostNet",
  ],
  [
    "schema",
    "a route that is not a list",
    (find) => (find("GRPCRoute", "grpc").spec.rules = {}),
    "must be array",
  ],
];
