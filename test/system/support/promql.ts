import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** The metrics that there are, with the labels that each was seen with. */
export type Exposed = ReadonlyMap<string, ReadonlySet<string>>;

/** Labels that Prometheus gives to whatever it reads from a pod. */
const ofTargets = ["namespace", "pod", "container", "job", "instance", "endpoint"];

/** The metrics in the text that a service answers at /metrics. */
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

/** What is wrong with a query: it cannot be read, or it asks for a metric or a label that there is not. */
export function queryProblems(query: string, exposed: Exposed): readonly string[] {
  // What Grafana puts in before it asks.
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

/** What is wrong with a legend: it shows a label by which the query does not group. */
export function legendProblems(legend: string, query: string): readonly string[] {
  const [, grouping = ""] = /by \(([^)]*)\)/.exec(query) ?? [];
  const groups = grouping.split(",").map((label) => label.trim());
  return [...legend.matchAll(/\{\{(\w+)\}\}/g)]
    .map(([, label = ""]) => label)
    .filter((label) => !groups.includes(label))
    .map((label) => `the legend shows ${label}, which ${query} does not give`);
}

function selectorProblems(node: SyntaxNode, text: string, exposed: Exposed): readonly string[] {
  const metric = textOf(node.getChild("Identifier"), text);
  const labels = exposed.get(metric);
  if (labels === undefined) return [`there is no metric ${metric}`];
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

/** The nodes of this name below `node`. */
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
