import type { DescMessage } from "@bufbuild/protobuf";
import { temporalExecutor } from "@reeve/agent/executors/temporal";
import { DispatchSchema } from "@reeve/contracts/run";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { channelOf } from "@reeve/contracts/channel";
import { dispatchLanes } from "@reeve/jetstream/queue/dispatch";
import type { KubernetesObject } from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import type { Workload } from "../support/manifests.ts";
import { ofKind, valueOf, workloadsOf } from "../support/manifests.ts";
import { environmentOf } from "../support/environment.ts";
import { programNameOf } from "../support/services.ts";

interface ScalerSpec {
  readonly scaleTargetRef: { readonly name: string };
  readonly fallback?: unknown;
  readonly advanced?: {
    readonly scalingModifiers?: { readonly formula: string; readonly target: string };
  };
  readonly triggers?: readonly Trigger[];
}

interface Trigger {
  readonly type: string;
  readonly metricType?: string;
  readonly authenticationRef?: { readonly name: string };
  readonly name?: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The number of pods is set by the manifest or by exactly one autoscaler. */
export function replicas(objects: readonly KubernetesObject[]): readonly string[] {
  const scalers = ofKind(objects, "ScaledObject", "HorizontalPodAutoscaler");
  const deployments = workloadsOf(objects).filter(({ object }) => object.kind === "Deployment");
  return [
    ...scalers
      .filter(
        (scaler) => !deployments.some(({ object }) => object.metadata.name === targetOf(scaler)),
      )
      .map((scaler) => `${nameOf(scaler)} scales ${targetOf(scaler)}, which does not exist`),
    ...deployments.flatMap(({ object, name }) => {
      const own = scalers.filter((scaler) => targetOf(scaler) === object.metadata.name);
      const { replicas: given } = object.spec as { readonly replicas?: number };
      if (own.length > 1) return [`${name} is scaled by ${own.map(nameOf).join(" and ")}`];
      if (own.length === 1 && given !== undefined)
        return [`${name} competes with ${own.map(nameOf).join()}`];
      return own.length === 0 && given === undefined ? [`${name} has no replica count`] : [];
    }),
  ];
}

function targetOf(scaler: KubernetesObject): string {
  return (scaler.spec as ScalerSpec).scaleTargetRef.name;
}

/** A ScaledObject scales by the lag of the queue that its pods consume and that the job provisions, or by the runs that wait in Temporal. */
export function queues(objects: readonly KubernetesObject[]): readonly string[] {
  const scaled = ofKind(objects, "ScaledObject");
  if (scaled.length === 0) return [];
  const workloads = workloadsOf(objects);
  const provisioned = workloads
    .filter((workload) => programNameOf(workload) === "provision")
    .flatMap((workload) =>
      (environmentOf(objects, workload)["REEVE_POOLS"] ?? "default").split(","),
    );
  const workers = workloads.filter((workload) => queueOf(workload) !== undefined);
  return workers.flatMap((workload) => {
    const { name, object } = workload;
    const scaler = scaled.find(
      (one) => (one.spec as ScalerSpec).scaleTargetRef.name === object.metadata.name,
    );
    if (scaler === undefined) return [`${name} is not scaled by its queue`];
    const queue = queueOf(workload);
    const environment = environmentOf(objects, workload);
    const problems =
      environment["REEVE_EXECUTOR"] === temporalExecutor.name
        ? temporalProblems(scaler, environment)
        : scalerProblems(scaler, queue);
    return [
      ...problems,
      ...(queue?.pool === undefined || provisioned.includes(queue.pool)
        ? []
        : [`the job does not provision pool ${queue.pool} of ${name}`]),
    ];
  });
}

function streamOf(schema: DescMessage): string {
  return channelOf(schema).stream?.name ?? "";
}

interface Queue {
  readonly stream: string;
  /** The consumers of all lanes, or the only one. */
  readonly consumers: readonly string[];
  readonly pool?: string;
  readonly concurrency: number;
}

/** Returns the queue that a workload consumes, as the contracts declare it. */
function queueOf(workload: Workload): Queue | undefined {
  const program = programNameOf(workload);
  if (program === "runtime") {
    const concurrency = Number(valueOf(workload, "REEVE_RUNTIME_CONCURRENCY") ?? 200);
    const consumers = dispatchLanes().map(({ durable }) => durable);
    return { stream: streamOf(DispatchSchema), consumers, concurrency };
  }
  if (program !== "toolhost") return undefined;
  const pool = valueOf(workload, "REEVE_POOL") ?? "default";
  const concurrency = Number(valueOf(workload, "REEVE_TOOLHOST_CONCURRENCY") ?? 8);
  return { stream: streamOf(ToolCallRequestSchema), consumers: [pool], pool, concurrency };
}

/** Runs that wait in Temporal scale the runtimes, and what KEDA asks is what the runtimes use. */
function temporalProblems(
  scaler: KubernetesObject,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { triggers = [], fallback, advanced } = scaler.spec as ScalerSpec;
  const name = nameOf(scaler);
  const [trigger, ...others] = triggers;
  const used = {
    endpoint: environment["REEVE_TEMPORAL_ADDRESS"],
    namespace: environment["REEVE_TEMPORAL_NAMESPACE"],
    taskQueue: environment["REEVE_TEMPORAL_TASK_QUEUE"] ?? "reeve",
    queueTypes: "activity",
  };
  if (trigger?.type !== "temporal" || others.length > 0) {
    return [`${name} does not scale by the runs that wait in Temporal`];
  }
  const { metricType, metadata } = trigger;
  return [
    ...Object.entries(used)
      .filter(([setting, value]) => metadata[setting] !== value)
      .map(([setting, value]) => `${name} asks for another ${setting} than ${value}`),
    // A backlog has no runs in progress, so a number for each pod would remove the pods that have them.
    ...(metricType === "Value" ? [] : [`${name} takes busy pods away while runs wait`]),
    // KEDA refuses them beside a value.
    ...(fallback === undefined && advanced?.scalingModifiers === undefined
      ? []
      : [`${name} has a fallback or a formula beside a metric of type Value`]),
    ...(environment["REEVE_TEMPORAL_API_KEY"] === undefined || trigger.authenticationRef
      ? []
      : [`${name} asks Temporal without the API key of the runtimes`]),
  ];
}

function scalerProblems(scaler: KubernetesObject, queue: Queue | undefined): readonly string[] {
  const { triggers = [], fallback, advanced } = scaler.spec as ScalerSpec;
  const name = nameOf(scaler);
  const sum = advanced?.scalingModifiers;
  const read = triggers.map(({ metadata }) => metadata["consumer"]);
  const consumers = queue?.consumers ?? [];
  const thresholds = triggers.map(({ metadata }) => metadata["lagThreshold"]);
  const lost = fallback === undefined ? [`${name} has no fallback while NATS is unavailable`] : [];
  return [
    ...lost,
    ...consumers
      .filter((consumer) => !read.includes(consumer))
      .map((consumer) => `${name} does not read consumer ${consumer}`),
    ...(triggers.length > 1 && sum?.formula !== triggers.map((each) => each.name).join(" + ")
      ? [`${name} does not scale by the sum of its lanes`]
      : []),
    ...(sum === undefined ? thresholds : [sum.target])
      .filter((threshold) => !(Number(threshold) <= (queue?.concurrency ?? 0)))
      .map(() => `${name} adds a pod only after calls wait`),
    ...triggers.flatMap(({ metadata }) => [
      ...(metadata["stream"] === queue?.stream
        ? []
        : [`${name} reads another stream than ${queue?.stream}`]),
      ...(consumers.includes(metadata["consumer"] ?? "")
        ? []
        : [`${name} reads another consumer than ${consumers.join(", ")}`]),
      ...(metadata["natsServerMonitoringEndpoint"]?.includes("-headless.") === true
        ? []
        : [`${name} asks one server of many`]),
    ]),
  ];
}
