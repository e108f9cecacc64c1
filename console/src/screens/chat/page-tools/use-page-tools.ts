import { createClient } from "@connectrpc/connect";
import { ClientToolService } from "@reeve/contracts/tool";
import { useEffect, useState } from "react";
import { newId } from "../../../api/new-id.ts";
import { keptPrefix } from "../../../api/session.ts";
import { transport } from "../../../api/transport.ts";
import { wait } from "../../../api/wait.ts";
import { applyTheme, isTheme } from "../../../ui/theme.ts";
import { manifestOf, pageTools } from "./page-tools.ts";
import { runsAfter, runsOf } from "./runs-of-tab.ts";
import { servePageTools } from "./serve-page-tools.ts";

const chosenKey = `${keptPrefix}page-tools`;
const clientKey = `${keptPrefix}page-client`;
const runsKey = `${keptPrefix}page-runs`;

const clientTools = createClient(ClientToolService, transport);

const tools = pageTools({
  selection: () => window.getSelection()?.toString() ?? "",
  setTheme: (theme) => {
    if (isTheme(theme)) applyTheme(theme);
  },
});

/** The id of this tab as a client. A page that is loaded again receives the calls that it has taken. */
function clientIdOfTab(): string {
  const id = sessionStorage.getItem(clientKey) ?? `page-${newId().slice(0, 12)}`;
  sessionStorage.setItem(clientKey, id);
  return id;
}

/** Returns what a run is started with so that it has the tools of the page. */
export function pageManifest() {
  return manifestOf(clientIdOfTab(), tools);
}

/** Remembers that this tab started a run with its tools, also after the page is loaded again. */
export function offerPageToolsTo(runId: string): void {
  sessionStorage.setItem(runsKey, runsAfter(sessionStorage.getItem(runsKey), runId));
}

/** Whether the person lets agents use the page. The choice is kept for the tab. */
export function useChoiceOfPageTools(): readonly [boolean, (isChosen: boolean) => void] {
  const [isChosen, setChosen] = useState(() => sessionStorage.getItem(chosenKey) === "yes");
  const choose = (next: boolean) => {
    sessionStorage.setItem(chosenKey, next ? "yes" : "no");
    setChosen(next);
  };
  return [isChosen, choose];
}

/**
 * Answers the calls of the active run while the person lets it, if this tab started the run with its tools: a run of another person in the
 * thread must not read what this one selects. Returns why it does not. Undefined: it does, or need not.
 */
export function usePageTools(isChosen: boolean, activeRunId: string): string | undefined {
  const isOwn = activeRunId !== "" && runsOf(sessionStorage.getItem(runsKey)).includes(activeRunId);
  const runId = isOwn ? activeRunId : "";
  const [failed, setFailed] = useState<{ readonly runId: string; readonly why: string }>();
  useEffect(() => {
    if (!isChosen || runId === "") return undefined;
    const ending = new AbortController();
    const target = { case: "runId" as const, value: runId };
    const manifest = pageManifest();
    const ports = {
      open: (signal: AbortSignal) => clientTools.offerTools({ target, manifest }, { signal }),
      answer: (request: Parameters<typeof clientTools.answerToolCall>[0], signal: AbortSignal) =>
        clientTools.answerToolCall(request, { signal }),
      wait,
    };
    const serve = async () => {
      const why = await servePageTools(ports, manifest.clientId ?? "", tools, ending.signal);
      if (!ending.signal.aborted && why !== undefined) setFailed({ runId, why });
    };
    void serve();
    return () => ending.abort();
  }, [isChosen, runId]);
  return failed?.runId === runId && isChosen ? failed.why : undefined;
}
