import { create } from "@bufbuild/protobuf";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import type { Tool, Toolbox } from "../ports/tool.ts";

/** The tools that one place offers at the moment. */
export type ToolSource = () => readonly Tool[];

/** The built-in tools, and those that MCP servers and providers list at the moment. */
export class HostToolbox implements Toolbox {
  readonly #builtin: readonly Tool[];
  readonly #sources: readonly ToolSource[];

  constructor(builtin: readonly Tool[], sources: readonly ToolSource[]) {
    this.#builtin = builtin;
    this.#sources = sources;
  }

  find(name: string): Tool | undefined {
    return this.list().find(({ descriptor }) => descriptor.name === name);
  }

  list(): readonly Tool[] {
    return [...this.#builtin, ...this.#sources.flatMap((tools) => tools())];
  }
}

/** What a toolhost announces. */
export function catalogOf(toolbox: Toolbox, pool: string, isolation: string): ToolCatalog {
  const tools = toolbox.list().map(({ descriptor }) => ({ ...descriptor, pool }));
  return create(ToolCatalogSchema, { pool, isolation, tools });
}
