import { artifactContract, maxBytes } from "../../test/support/artifact-contract.ts";
import { MemoryArtifactStore } from "./memory-artifact-store.ts";

const store = new MemoryArtifactStore({ maxBytes });
artifactContract("memory", () => store);
