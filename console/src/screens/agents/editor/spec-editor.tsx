import { useQuery } from "@connectrpc/connect-query";
import { AgentService } from "@reeve/contracts/agent";
import { ToolService } from "@reeve/contracts/tool";
import { Suspense, lazy, useMemo } from "react";
import { retried } from "../../../loading/retried.ts";
import type { SpecProblem } from "../spec-text.ts";

/** The editor is loaded after the page is shown. */
const loadEditor = retried(() => import("./code-editor.tsx"));
const CodeEditor = lazy(async () => ({ default: (await loadEditor()).CodeEditor }));

interface SpecEditorProps {
  readonly text: string;
  /** Changes when something else than the editor has changed the text. */
  readonly version: number;
  readonly violations: readonly SpecProblem[];
  readonly onChange: (text: string) => void;
}

/** The text of a spec, which can be edited. Until the editor is loaded, it can be read. */
export function SpecEditor({ text, version, violations, onChange }: SpecEditorProps) {
  const models = useQuery(AgentService.method.listModels, {}).data?.models;
  const tools = useQuery(ToolService.method.listTools, {}).data?.tools;
  const names = useMemo(
    () => ({
      models: models?.map(({ id }) => id) ?? [],
      tools: [...new Set(tools?.map(({ name }) => name))],
    }),
    [models, tools],
  );
  return (
    <div className="spec-text">
      <Suspense fallback={<pre className="code">{text}</pre>}>
        <CodeEditor
          text={text}
          version={version}
          violations={violations}
          names={names}
          onChange={onChange}
        />
      </Suspense>
    </div>
  );
}
