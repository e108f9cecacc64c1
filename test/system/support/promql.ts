import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** The exposed metrics, with the labels of each. */
export type Exposed = ReadonlyMap<string, ReadonlySet<string>>;

/** Labels that Prometheus adds to all metrics of a pod. */
const ofTargets = ["namespace", "pod", "container", "job", "instance", "endpoint"];

/** Returns the metrics in the text that a service serves at /metrics. */
export function exposedIn(texts: readonly string[]): Exposed {
  const exposed = new Map<string, Set<string>>();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    const [, name, labels = ""] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = exposed.get(name) ?? new Set(ofTargets);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    exposed.set(name, known);
  }
  return exposed;
}

/** Returns the problems of a query: it cannot be parsed, or it uses a metric or a label that does not exist. */
export function queryProblems(query: string, exposed: Exposed): readonly string[] {
  // Grafana's variables.
  const text = query.replaceAll("$__rate_interval", "5m").replaceAll("$namespace", "reeve");
  const tree = parser.parse(text);
  const problems: string[] = [];
  each(tree, (node) => {
    if (node.type.isError) problems.push(`cannot be read: ${query}`);
    if (node.name === "VectorSelector") problems.push(...selectorProblems(node, text, exposed));
    if (node.name === "AggregateExpr") problems.push(...groupingProblems(node, text, exposed));
  });
  if (!has(tree, "VectorSelector")) problems.push(`asks for no metric: ${query}`);
  return problems;
}

/** Returns the labels of a legend by which the query does not group, as problems. */
export function legendProblems(legend: string, query: string): readonly string[] {
  const [, grouping = ""] = /by \(([^)]*)\)/.exec(query) ?? [];
  const groups = grouping.split(",").map((label) => label.trim());
  return [...legend.matchAll(/\{\{(\w+)\}\}/g)]
    .map(([, label = ""]) => label)
    .filter((label) => !groups.includes(label))
    .map((label) => `the legend shows ${label}, which ${query} does not return`);
}

function selectorProblems(node: SyntaxNode, text: string, exposed: Exposed): readonly string[] {
  const metric = textOf(node.getChild("Identifier"), text);
  const labels = exposed.get(metric);
  if (labels === undefined) return [`no metric ${metric} exists`];
  return within(node, "LabelName")
    .map((label) => textOf(label, text))
    .filter((label) => !labels.has(label))
    .map((label) => `${metric} has no label ${label}`);
}

function groupingProblems(node: SyntaxNode, text: string, exposed: Exposed): readonly string[] {
  const metrics = within(node, "VectorSelector").map((one) =>
    textOf(one.getChild("Identifier"), text),
  );
  return within(node, "GroupingLabels")
    .flatMap((grouping) => within(grouping, "LabelName"))
    .map((label) => textOf(label, text))
    .filter((label) => !metrics.some((metric) => exposed.get(metric)?.has(label) === true))
    .map((label) => `${metrics.join(", ")} has no label ${label} to group by`);
}

function each(tree: Tree, look: (node: SyntaxNode) => void): void {
  tree.iterate({ enter: (node) => look(node.node) });
}

function has(tree: Tree, name: string): boolean {
  return within(tree.topNode, name).length > 0;
}

/** Returns the nodes of this name below `node`. */
function within(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  node.cursor().iterate((one) => {
    if (one.name === name && one.from >= node.from && one.to <= node.to) found.push(one.node);
  });
  return found;
}

function textOf(node: SyntaxNode | null, text: string): string {
  return node === null ? "" : text.slice(node.from, node.to);
}
