import { maxBytes } from "../../test/support/artifact-contract.ts";
import { objectsContract } from "../../test/support/objects-contract.ts";
import { MemoryObjects } from "./memory.ts";

const objects = new MemoryObjects({ maxBytes });
objectsContract("memory", () => objects);
