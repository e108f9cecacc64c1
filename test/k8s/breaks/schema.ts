import type { Break } from "./break.ts";
import { container } from "./break.ts";

/** Objects that their schemas refuse. */
export const schemaBreaks: readonly Break[] = [
  [
    "schema",
    "a field that there is not",
    (find) => (find("Deployment", "gateway").spec.replica = 1),
    "replica",
  ],
  [
    "schema",
    "a field deep inside that there is not",
    (find) => (container(find("Deployment", "gateway")).securityContext.readOnly = true),
    "readOnly",
  ],
  [
    "schema",
    "a number that is a text",
    (find) => (container(find("Deployment", "gateway")).ports[0].containerPort = "80"),
    "must be number",
  ],
  [
    "schema",
    "a field that is missing",
    (find) => delete find("Deployment", "gateway").spec.selector,
    "'selector'",
  ],
  [
    "schema",
    "a kind that there is not",
    (find) => (find("Deployment", "gateway").kind = "Deploy"),
    "nobody knows",
  ],
  [
    "schema",
    "a version that there is not",
    (find) => (find("ScaledObject", "toolhost").apiVersion = "keda.sh/v1"),
    "nobody knows",
  ],
  [
    "schema",
    "a field that a custom resource has not",
    (find) => (find("ScaledObject", "toolhost").spec.min = 1),
    "min",
  ],
  [
    "schema",
    "a field of a pod inside a custom resource that there is not",
    (find) => (find("SandboxTemplate", "sandbox").spec.podTemplate.spec.hostNet = true),
    "hostNet",
  ],
  [
    "schema",
    "a route that is no list",
    (find) => (find("GRPCRoute", "grpc").spec.rules = {}),
    "must be array",
  ],
];
