import { stringify } from "yaml";

/** A Kubernetes object, as far as a chart changes it. */
export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

export interface ChartOptions {
  /** The version of the chart and of the application. */
  readonly version: string;
}

/** The names of ConfigMaps end with a hash of their content, which a chart cannot compute. */
const hashed = /^(reeve|provision)-[a-z0-9]{10}$/;
const image = "image";
/** Marks a part of an object that is an expression of the template. */
const marked = /"?<<(.+?)>>"?/g;
const imageValue = "<<.Values.image | quote>>";

/**
 * Returns the files of a Helm chart by their paths, which creates the objects of a rendered kustomization in the namespace of the
 * release. Its values are the image, the numbers of replicas, and the settings. A change of the settings replaces the pods. Throws
 * if the objects have several namespaces.
 */
export function chartFiles(
  objects: readonly ChartObject[],
  { version }: ChartOptions,
): ReadonlyMap<string, string> {
  const kept = objects.filter(({ kind }) => kind !== "Namespace");
  const namespaces = new Set(kept.flatMap(({ metadata }) => metadata.namespace ?? []));
  if (namespaces.size > 1) {
    throw new Error(
      `a chart has one namespace, and the objects have ${[...namespaces].join(", ")}`,
    );
  }
  const chart = {
    apiVersion: "v2",
    name: "reeve",
    description: "A runtime for agents. NATS is not included.",
    type: "application",
    version,
    appVersion: version,
    kubeVersion: ">=1.30.0-0",
  };
  const files = kept.map((object): [string, string] => {
    const name = object.metadata.name.replace(hashed, "$1");
    return [`templates/${object.kind.toLowerCase()}-${name}.yaml`, templateOf(object)];
  });
  return new Map([
    ["Chart.yaml", stringify(chart)],
    ["values.yaml", `${valuesHeader}${stringify(valuesOf(kept))}`],
    ...files,
  ]);
}

const valuesHeader = `# image: the image of the services and of the job that provisions NATS
# replicas: the number of pods of each service that no autoscaler scales
# settings: environment variables of all services, as strings
# provision: environment variables of the job, as strings
`;

function valuesOf(objects: readonly ChartObject[]) {
  const replicas = objects.flatMap((object) => {
    const { replicas: count } =
      (object["spec"] as { readonly replicas?: number } | undefined) ?? {};
    return object.kind === "Deployment" && count !== undefined
      ? [[object.metadata.name, count] as const]
      : [];
  });
  const { [image]: name, ...provision } = dataOf(objects, "provision");
  const settings = dataOf(objects, "reeve");
  return { image: name, replicas: Object.fromEntries(replicas), settings, provision };
}

function dataOf(objects: readonly ChartObject[], name: string): Readonly<Record<string, string>> {
  const found = objects.find(
    ({ kind, metadata }) => kind === "ConfigMap" && hashed.exec(metadata.name)?.[1] === name,
  );
  if (found === undefined) throw new Error(`the objects have no ConfigMap ${name} with a hash`);
  return found["data"] as Readonly<Record<string, string>>;
}

function templateOf(object: ChartObject): string {
  const { namespace: _namespace, ...metadata } = object.metadata;
  const own = { ...object, metadata } as ChartObject;
  const text = stringify(withExpressions(own), { lineWidth: 0 });
  // Alerts and dashboards contain templates of others.
  const literal = text.replaceAll("{{", '{{ "{{" }}');
  const template = literal.replaceAll(marked, (_, expression: string) => `{{ ${expression} }}`);
  return isSettings(object) ? template + dataTemplate(object) : template;
}

/** Whether an object is a ConfigMap whose data are values of the chart. */
function isSettings({ kind, metadata }: ChartObject): boolean {
  return kind === "ConfigMap" && hashed.test(metadata.name);
}

function withExpressions(object: ChartObject): unknown {
  const { name } = object.metadata;
  const renamed = replaced(object, (value) => {
    if (typeof value !== "string" || !hashed.test(value)) return value;
    return value.replace(hashed, "$1");
  }) as ChartObject;
  switch (object.kind) {
    case "ConfigMap": {
      if (!isSettings(object)) return renamed;
      const { data: _data, ...rest } = renamed as ChartObject & { readonly data?: unknown };
      return rest;
    }
    case "Job":
      // Kubernetes refuses to change the pod of a job, so each revision of a release has its own.
      return {
        ...withPod(renamed),
        metadata: { ...renamed.metadata, name: "provision-<<.Release.Revision>>" },
      };
    case "Deployment":
      return withReplicas(withPod(renamed), name);
    default:
      return renamed;
  }
}

/** Has the pods of a workload use the image of the values, and be replaced when the settings change. */
function withPod(object: ChartObject): ChartObject {
  const { template, ...spec } = object["spec"] as {
    readonly template: {
      readonly metadata: { readonly annotations?: object };
      readonly spec: { readonly containers: readonly { readonly name: string }[] };
    };
  };
  const annotations = {
    ...template.metadata.annotations,
    "checksum/settings": "<<toJson .Values.settings | sha256sum | quote>>",
  };
  const containers = template.spec.containers.map((container) =>
    container.name === "reeve" ? { ...container, image: imageValue } : container,
  );
  return {
    ...object,
    spec: {
      ...spec,
      template: {
        ...template,
        metadata: { ...template.metadata, annotations },
        spec: { ...template.spec, containers },
      },
    },
  };
}

function withReplicas(object: ChartObject, name: string): ChartObject {
  const spec = object["spec"] as { readonly replicas?: number };
  if (spec.replicas === undefined) return object;
  return { ...object, spec: { ...spec, replicas: `<<.Values.replicas.${name}>>` } };
}

/** Returns the data of a ConfigMap, from the values. */
function dataTemplate({ metadata, ["data"]: data }: ChartObject): string {
  const isJob = metadata.name.startsWith("provision");
  const lines = [
    "data:",
    ...(isJob && data !== undefined ? [`  ${image}: {{ .Values.image | quote }}`] : []),
    `{{- range $name, $value := .Values.${isJob ? "provision" : "settings"} }}`,
    "  {{ $name }}: {{ $value | toString | quote }}",
    "{{- end }}",
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns a copy with every leaf changed. */
function replaced(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, change));
  if (typeof value !== "object" || value === null) return change(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, replaced(inner, change)]),
  );
}
