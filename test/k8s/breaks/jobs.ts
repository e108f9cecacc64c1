import type { Break } from "./break.ts";
import { container } from "./break.ts";

/** Jobs that a change cannot replace, or that provision the wrong server. */
export const jobBreaks: readonly Break[] = [
  [
    "jobs",
    "a name without a hash",
    (find) => (find("Job", "provision").metadata.name = "provision"),
    "the same name with other settings",
  ],
  [
    "jobs",
    "settings in another ConfigMap",
    (find) => container(find("Job", "provision")).envFrom.push({ configMapRef: { name: "reeve" } }),
    "which its name does not follow",
  ],
  [
    "jobs",
    "an image that the name does not follow",
    (find) => (container(find("Job", "provision")).image = "reeve:9.9.9"),
    "the same name with another image",
  ],
  [
    "jobs",
    "another server",
    (find) => (find("ConfigMap", "provision").data.REEVE_NATS_URL = "nats://other:4222"),
    "provisions another server",
  ],
];
