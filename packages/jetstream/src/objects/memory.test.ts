import { maxBytes } from "../../test/artifact-contract.ts";
import { objectsContract } from "../../test/objects-contract.ts";
import { MemoryObjects } from "./memory.ts";

const objects = new MemoryObjects({ maxBytes });
objectsContract("memory", () => objects);
