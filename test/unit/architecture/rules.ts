/** What each package may import of the others. */
export const packageOrder: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  platform: ["contracts"],
  agent: ["contracts", "platform"],
  jetstream: ["contracts", "platform"],
  memory: ["contracts", "platform", "jetstream"],
  knowledge: ["contracts", "platform", "jetstream", "memory", "sandbox"],
  run: ["contracts", "platform", "agent", "jetstream"],
  engine: ["contracts", "platform", "agent", "jetstream", "memory", "knowledge", "run"],
  models: ["contracts", "platform", "agent", "knowledge", "engine"],
  plugin: ["contracts", "platform", "agent", "engine"],
  sandbox: ["contracts", "platform", "agent"],
  calls: ["contracts", "platform", "agent", "jetstream", "sandbox"],
  local: [
    "contracts",
    "platform",
    "agent",
    "jetstream",
    "memory",
    "knowledge",
    "run",
    "engine",
    "models",
    "plugin",
    "sandbox",
    "calls",
  ],
};

/** What each folder of a service or package may import of its siblings, besides itself. Other folders are free. */
const folderOrder: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "services/gateway": {
    app: [],
    projections: ["app"],
    rpc: ["app", "projections"],
  },
  "services/approvals": {
    app: [],
    projections: ["app"],
    notify: ["app"],
    rpc: ["app", "projections", "notify"],
  },
  "services/toolhost": {
    secrets: [],
    tools: ["secrets"],
    workspaces: ["secrets", "tools"],
    pool: ["secrets", "workspaces", "tools"],
  },
  // Drivers share code through other folders only, such as `agent` and `host`.
  "packages/sandbox": {
    bubblewrap: [],
    docker: [],
    "files-only": [],
    kubernetes: [],
    "unsafe-local": [],
  },
  "packages/engine": {
    domain: [],
    ports: ["domain"],
    tracing: ["domain", "ports"],
    perform: ["domain", "ports", "tracing"],
    drive: ["domain", "ports", "tracing", "perform"],
  },
};

/** Files without a clock, randomness, or I/O, and what they may import besides each other. */
const pureFolders = [
  "packages/engine/src/domain/",
  "packages/run/src/guardrails/",
  "packages/run/src/head/",
  "packages/run/src/media/",
  "packages/run/src/parts/",
  "packages/run/src/tree/",
  "packages/run/src/thread/history/",
  "packages/run/src/approvals/votes/",
  "packages/agent/src/",
  "packages/knowledge/src/render-passages.ts",
];
const pureImports = [
  "packages/contracts/",
  "packages/agent/",
  "packages/knowledge/src/render-passages.ts",
  "packages/run/src/guardrails/",
  "packages/run/src/head/",
  "packages/run/src/media/",
  "packages/run/src/parts/",
  "packages/run/src/tree/",
  "packages/run/src/thread/history/",
  "packages/run/src/approvals/votes/",
  "packages/platform/src/failure.ts",
  "packages/platform/src/list-violations.ts",
  // Names roles, and reads the role that a method declares.
  "packages/platform/src/rpc/roles.ts",
  "packages/platform/src/strict/assert-valid.ts",
  "packages/platform/src/strict/merge-violations.ts",
  "packages/platform/src/strict/read-shape.ts",
  "@bufbuild/",
  // Lists prices; its data is inside.
  "@pydantic/genai-prices",
  "ajv",
  "re2js",
  "yaml",
  "zod",
  // Classifies IP addresses; opens nothing.
  "node:net",
];

/** What the client may import. It is published, and the packages of this repository are not. */
const clientImports = ["sdk/typescript/", "#contracts/", "@bufbuild/", "@connectrpc/", "node:"];

/**
 * What the console may import of this repository: it runs in a browser, and uses the public API only. The model of workflows and the
 * language of permission rules are pure, and what they say of a node or a rule must be what the engine does.
 */
const consoleImports = [
  "console/",
  "packages/contracts/",
  "packages/agent/src/workflow/",
  "packages/agent/src/permission/exact-rule.ts",
  "packages/agent/src/permission/rule-freedom.ts",
];

/** Returns the rule that an import breaks, or undefined. `file` and `target` are paths relative to the repository. */
export function problemWith(file: string, target: string): string | undefined {
  if (!file.includes("/src/") || file.endsWith(".test.ts")) return undefined;
  return orderProblem(file, target) ?? folderProblem(file, target) ?? pureProblem(file, target);
}

function orderProblem(file: string, target: string): string | undefined {
  const [area = "", name = ""] = file.split("/");
  const [otherArea = "", other = ""] = target.split("/");
  if (area === "services") {
    if (otherArea === "services" && other !== name)
      return "a service never imports another service";
    if (otherArea === "cli") return "a service never imports the command line";
  }
  if (area === "sdk" && !clientImports.some((prefix) => target.startsWith(prefix))) {
    return "the client depends only on the contracts";
  }
  if (area === "console" && !consoleImports.some((prefix) => target.startsWith(prefix))) {
    const isLibrary = !/^(?:packages|services|cli|sdk|node:)/.test(target);
    return isLibrary
      ? undefined
      : "the console depends only on the contracts, the model of workflows, the language of rules, and libraries";
  }
  if (area === "packages") {
    if (otherArea === "services" || otherArea === "cli") return "a package never imports a service";
    if (otherArea !== "packages" || other === name) return undefined;
    return packageOrder[name]?.includes(other) === true ? undefined : `${name} precedes ${other}`;
  }
  return undefined;
}

function folderProblem(file: string, target: string): string | undefined {
  const [area = "", name = "", , folder = ""] = file.split("/");
  const owner = `${area}/${name}`;
  const order = folderOrder[owner];
  if (order?.[folder] === undefined || !target.startsWith(`${owner}/src/`)) return undefined;
  const targetFolder = target.split("/")[3] ?? "";
  if (targetFolder === folder || order[targetFolder] === undefined) return undefined;
  return order[folder].includes(targetFolder)
    ? undefined
    : `${folder} does not depend on ${targetFolder}`;
}

function pureProblem(file: string, target: string): string | undefined {
  const folder = pureFolders.find((prefix) => file.startsWith(prefix));
  if (folder === undefined || target.startsWith(folder)) return undefined;
  return pureImports.some((prefix) => target.startsWith(prefix))
    ? undefined
    : "this folder is pure";
}

/** Globals that read a clock, draw random numbers, or do I/O. */
const impureGlobals =
  /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.|process\.|setTimeout|setInterval|setImmediate|fetch\(|crypto\.)/;

/** Returns the impure global that a pure file uses, or undefined. */
export function impurityIn(file: string, source: string): string | undefined {
  if (file.endsWith(".test.ts") || !pureFolders.some((prefix) => file.startsWith(prefix))) {
    return undefined;
  }
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  return impureGlobals.exec(code)?.[0];
}
