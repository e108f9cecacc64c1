import type { Break, Broken } from "./break.ts";
import { container, variable } from "./break.ts";

/** Invalid settings, and secrets where they are not needed. */
export const settingBreaks: readonly Break[] = [
  [
    "settings",
    "an unknown setting",
    (find) => container(find("Deployment", "gateway")).env.push({ name: "REEVE_PORT", value: "1" }),
    "has no setting REEVE_PORT",
  ],
  [
    "settings",
    "an invalid setting",
    (find) => (variable(find("Deployment", "toolhost"), "REEVE_POOL").value = "a b"),
    "REEVE_POOL",
  ],
  [
    "settings",
    "a missing setting",
    (find) =>
      (container(find("Deployment", "gateway")).env = container(
        find("Deployment", "gateway"),
      ).env.filter(({ name }: Broken) => name !== "REEVE_TOKENS")),
    "REEVE_TOKENS: is required",
  ],
  [
    "settings",
    "a missing ConfigMap",
    (find) => (container(find("Deployment", "gateway")).envFrom[0].configMapRef.name = "nothing"),
    "which does not exist",
  ],
  [
    "settings",
    "an unknown program",
    (find) => (container(find("Deployment", "gateway")).command[1] = "programs/door.mjs"),
    "an unknown program",
  ],
  [
    "secrets",
    "a provider's key at a toolhost",
    (find) =>
      container(find("Deployment", "toolhost")).env.push(
        variable(find("Deployment", "runtime"), "OPENAI_API_KEY"),
      ),
    "Deployment toolhost may not see reeve-models",
  ],
  [
    "secrets",
    "a secret that is not created",
    (find) =>
      (variable(find("Deployment", "gateway"), "REEVE_TOKENS").valueFrom.secretKeyRef.key = "t"),
    "which is not created",
  ],
  [
    "secrets",
    "a whole secret",
    (find) =>
      container(find("Deployment", "runtime")).envFrom.push({
        secretRef: { name: "reeve-models" },
      }),
    "takes all keys of secret reeve-models",
  ],
  [
    "secrets",
    "the password of another user of NATS",
    (find) =>
      container(find("Deployment", "toolhost")).env.push(
        variable(find("Deployment", "gateway"), "REEVE_NATS_PASSWORD"),
      ),
    "Deployment toolhost may not see reeve-nats-gateway",
  ],
  [
    "natsUsers",
    "a service with the rights of the operator",
    (find) => (variable(find("Deployment", "toolhost"), "REEVE_NATS_USER").value = "operator"),
    "Deployment toolhost does not connect to NATS as toolhost",
  ],
  [
    "natsUsers",
    "a job with the password of a service",
    (find) =>
      (variable(find("Job", "provision"), "REEVE_NATS_PASSWORD").valueFrom.secretKeyRef.name =
        "reeve-nats-runtime"),
    "does not take REEVE_NATS_PASSWORD from secret reeve-nats-operator",
  ],
  [
    "natsUsers",
    "a service that starts without a password",
    (find) =>
      (variable(
        find("Deployment", "runtime"),
        "REEVE_NATS_PASSWORD",
      ).valueFrom.secretKeyRef.optional = true),
    "Deployment runtime does not take REEVE_NATS_PASSWORD",
  ],
];
