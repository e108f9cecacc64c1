import { explore, wander } from "./explore.ts";
import { smallScenarios, wideScenarios } from "./scenarios.ts";
for (const [name, scenario] of smallScenarios) for (const faults of [0, 1]) {
  const at = performance.now();
  console.log(name, faults, JSON.stringify(await explore(() => scenario(), { faults, worlds: 3000 })), Math.round(performance.now() - at));
}
for (const [name, scenario] of wideScenarios) for (const faults of [1, 3, 6]) {
  const at = performance.now();
  console.log(name, faults, JSON.stringify(await wander(() => scenario(), { faults, walks: 1000, seed: 7 * faults })), Math.round(performance.now() - at));
}
process.exit(0);
