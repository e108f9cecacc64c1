import { useQuery } from "@connectrpc/connect-query";
import { Code, ConnectError } from "@connectrpc/connect";
import { ArtifactService } from "@reeve/contracts/artifact";
import type { FileEntry } from "@reeve/contracts/tool";
import { FileKind, WorkspaceService } from "@reeve/contracts/tool";
import { useState } from "react";
import { problemOf } from "../../../api/problem.ts";
import { formatBytes } from "../../../format/amounts.ts";
import { isTerminal } from "../../../format/names.ts";
import { Empty } from "../../../ui/empty.tsx";
import { Icon } from "../../../ui/icons.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import type { RunViewProps } from "../view-props.ts";
import { FileChanges } from "./file-changes.tsx";
import { FilePreview } from "./file-preview.tsx";
import { downloadArtifact, downloadFile } from "./download.ts";
import "../../../styles/files.css";

/** The workspace of the run, and the artifacts that it produced. */
export function FilesView({ snapshot: { run } }: RunViewProps) {
  const refetchInterval = isTerminal(run.status) ? (false as const) : 5_000;
  const { runId } = run;
  const files = useQuery(
    WorkspaceService.method.listFiles,
    { runId, recursive: true, pageSize: 1_000 },
    { refetchInterval },
  );
  const artifacts = useQuery(
    ArtifactService.method.listArtifacts,
    { runId, pageSize: 1_000 },
    { refetchInterval },
  );
  const hasNoWorkspace =
    files.error !== null && ConnectError.from(files.error).code === Code.NotFound;
  const [path, setPath] = useState<string | undefined>();
  const [part, setPart] = useState<"content" | "changes">("content");
  const entries = (files.data?.entries ?? []).filter(({ kind }) => kind === FileKind.FILE);
  const chosen = entries.find((entry) => entry.path === path) ?? entries[0];
  return (
    <>
      {files.error !== null && !hasNoWorkspace && (
        <ProblemView problem={problemOf(files.error)} onRetry={() => void files.refetch()} />
      )}
      {(files.isSuccess || hasNoWorkspace) && entries.length === 0 && (
        <Empty title="No files">
          This run has no workspace yet, or its workspace is empty. Files that a tool writes appear
          here.
        </Empty>
      )}
      {chosen !== undefined && (
        <div className="files">
          <ol className="file-list" aria-label="Files of the workspace">
            {entries.map((entry) => (
              <li key={entry.path}>
                <FileButton entry={entry} isChosen={entry === chosen} onChoose={setPath} />
              </li>
            ))}
          </ol>
          <section className="file" aria-label={chosen.path}>
            <header className="row">
              <h2 className="mono">{chosen.path}</h2>
              <div className="chips push" role="group" aria-label="Parts of the file">
                {(["content", "changes"] as const).map((each) => (
                  <button
                    key={each}
                    type="button"
                    className="chip small"
                    aria-pressed={part === each}
                    onClick={() => setPart(each)}
                  >
                    {each}
                  </button>
                ))}
              </div>
              <button
                type="button"
                className="button"
                onClick={() => void downloadFile(runId, chosen.path)}
              >
                <Icon name="download" />
                Download
              </button>
            </header>
            {part === "changes" ? (
              <FileChanges run={run} entry={chosen} />
            ) : (
              <FilePreview
                key={`${chosen.path} ${chosen.sizeBytes}`}
                runId={runId}
                entry={chosen}
              />
            )}
          </section>
        </div>
      )}
      {(artifacts.data?.artifacts ?? []).length > 0 && (
        <section aria-label="Artifacts">
          <h2 className="section">Artifacts</h2>
          <ul className="artifact-list">
            {artifacts.data?.artifacts.map(({ artifactId, name, sizeBytes, mediaType }) => (
              <li key={artifactId}>
                <button
                  type="button"
                  className="button"
                  onClick={() => void downloadArtifact(artifactId, name)}
                >
                  <Icon name="download" />
                  {name}
                </button>
                <span className="muted">
                  {formatBytes(sizeBytes)}, {mediaType}
                </span>
                <span className="mono muted">{artifactId}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface FileButtonProps {
  readonly entry: FileEntry;
  readonly isChosen: boolean;
  readonly onChoose: (path: string) => void;
}

function FileButton({ entry, isChosen, onChoose }: FileButtonProps) {
  return (
    <button
      type="button"
      className="file-item"
      aria-pressed={isChosen}
      onClick={() => onChoose(entry.path)}
    >
      <Icon name="file" />
      <span className="mono clip">{entry.path}</span>
      <span className="muted tabular">{formatBytes(Number(entry.sizeBytes))}</span>
    </button>
  );
}
