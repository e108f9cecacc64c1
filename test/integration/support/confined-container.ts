import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NetworkedContainer } from "./networked-container.ts";

const seccomp = JSON.stringify(
  JSON.parse(
    readFileSync(
      join(import.meta.dirname, "../../../deploy/compose/toolhost-seccomp.json"),
      "utf8",
    ),
  ),
);

/** A container with the restrictions of compose.yaml: a read-only root and no capabilities. */
export class ConfinedContainer extends NetworkedContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.withDroppedCapabilities("ALL").withSecurityOpt("no-new-privileges");
    this.withTmpFs({ "/tmp": "mode=1777,size=64m" });
  }

  /** Permits what bubblewrap needs to create sandboxes inside the container. */
  withSandboxes(): this {
    this.hostConfig.MaskedPaths = [];
    this.hostConfig.ReadonlyPaths = [];
    return this.withSecurityOpt("no-new-privileges", `seccomp=${seccomp}`, "apparmor=unconfined");
  }
}
