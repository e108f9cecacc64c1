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

/** A container as compose.yaml confines them: nothing in it can be written, and no capability is left. */
export class ConfinedContainer extends NetworkedContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.withDroppedCapabilities("ALL").withSecurityOpt("no-new-privileges");
    this.withTmpFs({ "/tmp": "mode=1777,size=64m" });
  }

  /** Permits what bubblewrap needs to make sandboxes inside of it. */
  withSandboxes(): this {
    this.hostConfig.MaskedPaths = [];
    this.hostConfig.ReadonlyPaths = [];
    return this.withSecurityOpt("no-new-privileges", `seccomp=${seccomp}`, "apparmor=unconfined");
  }
}
