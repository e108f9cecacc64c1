import type { Break } from "./break.ts";
import { container, volume } from "./break.ts";

/** Images without a certain version, and containers that ask for less than they use. */
export const imageBreaks: readonly Break[] = [
  [
    "images",
    "the latest image",
    (find) => (container(find("Deployment", "gateway")).image = "reeve:latest"),
    "no certain version",
  ],
  [
    "images",
    "an image without a version",
    (find) => (container(find("Deployment", "gateway")).image = "host:5000/reeve"),
    "no certain version",
  ],
  [
    "resources",
    "a container without a request",
    (find) => delete container(find("Deployment", "gateway")).resources.requests.cpu,
    "requests no cpu",
  ],
  [
    "resources",
    "memory beyond what was asked for",
    (find) => (container(find("Deployment", "gateway")).resources.limits.memory = "9Gi"),
    "did not ask for",
  ],
  [
    "resources",
    "volumes larger than the limit",
    (find) => (volume(find("Deployment", "toolhost"), "data").emptyDir.sizeLimit = "50Gi"),
    "evicted",
  ],
];
