import { test } from "vitest";
import { explore } from "./explore.ts";
import { ProtocolWorld } from "./protocol-world.ts";

test.each([0,1,2])("a fresh run %i", async (faults) => {
    const at = performance.now();
    const seen = await explore(async () => (await new ProtocolWorld({}).create()).begin(), { faults });
    console.log(faults, seen, performance.now() - at);
}, 60_000);
