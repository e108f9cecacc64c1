import type { RunPorts } from "../../../src/ports/run-ports.ts";
import { generating, images, painter, paintingAgent } from "../media-model.ts";
import { WorkerBench } from "../worker-bench.ts";

/** Drives a run whose ports differ. Returns the run, and what its worker returns. */
export async function drivenWith(change: (ports: RunPorts) => Partial<RunPorts>) {
  const model = generating(images);
  const runs = await new WorkerBench(model, [painter]).create(paintingAgent);
  const ports = runs.ports("w1");
  const driven = runs.drive("w1", 1, undefined, 1, { ...ports, ...change(ports) });
  return { runs, model, driven };
}
