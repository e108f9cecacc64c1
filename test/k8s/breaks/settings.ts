import type { Break, Broken } from "./break.ts";
import { container, variable } from "./break.ts";

/** Settings that no program takes, and secrets where they are not needed. */
export const settingBreaks: readonly Break[] = [
  [
    "settings",
    "a setting that there is not",
    (find) => container(find("Deployment", "gateway")).env.push({ name: "REEVE_PORT", value: "1" }),
    "has no setting REEVE_PORT",
  ],
  [
    "settings",
    "a setting that is wrong",
    (find) => (variable(find("Deployment", "toolhost"), "REEVE_POOL").value = "a b"),
    "REEVE_POOL",
  ],
  [
    "settings",
    "a setting that is missing",
    (find) =>
      (container(find("Deployment", "gateway")).env = container(
        find("Deployment", "gateway"),
      ).env.filter(({ name }: Broken) => name !== "REEVE_TOKENS")),
    "REEVE_TOKENS: is required",
  ],
  [
    "settings",
    "settings that there are not",
    (find) => (container(find("Deployment", "gateway")).envFrom[0].configMapRef.name = "nothing"),
    "which there is not",
  ],
  [
    "settings",
    "a program that there is not",
    (find) => (container(find("Deployment", "gateway")).command[1] = "services/door/src/main.ts"),
    "a program that there is not",
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
    "a secret that nobody makes",
    (find) =>
      (variable(find("Deployment", "gateway"), "REEVE_TOKENS").valueFrom.secretKeyRef.key = "t"),
    "which nobody makes",
  ],
  [
    "secrets",
    "a whole secret",
    (find) =>
      container(find("Deployment", "runtime")).envFrom.push({
        secretRef: { name: "reeve-models" },
      }),
    "takes the whole of secret reeve-models",
  ],
];
