import { maxBytes } from "../test/artifact-contract.ts";
import { objectsContract } from "../test/objects-contract.ts";
import { MemoryObjects } from "./memory-objects.ts";

const objects = new MemoryObjects({ maxBytes });
objectsContract("memory", () => objects);
