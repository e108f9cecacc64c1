import type { Break } from "./break.ts";
import { container, volume } from "./break.ts";

/** Images without a fixed version, and containers with insufficient requests. */
export const imageBreaks: readonly Break[] = [
  [
    "images",
    "the latest image",
    (find) => (container(find("Deployment", "gateway")).image = "reeve:latest"),
    "no fixed version",
  ],
  [
    "images",
    "an image without a version",
    (find) => (container(find("Deployment", "gateway")).image = "host:5000/reeve"),
    "no fixed version",
  ],
  [
    "resources",
    "a container without a request",
    (find) => delete container(find("Deployment", "gateway")).resources.requests.cpu,
    "requests no cpu",
  ],
  [
    "resources",
    "a memory limit above the request",
    (find) => (container(find("Deployment", "gateway")).resources.limits.memory = "9Gi"),
    "without a request",
  ],
  [
    "resources",
    "volumes larger than the limit",
    (find) => (volume(find("Deployment", "toolhost"), "data").emptyDir.sizeLimit = "50Gi"),
    "evicted",
  ],
];
