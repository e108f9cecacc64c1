import { useQuery } from "@tanstack/react-query";
import type { FileEntry } from "@reeve/contracts/tool";
import { problemOf } from "../../../api/problem.ts";
import { formatBytes } from "../../../format/amounts.ts";
import { changesOf } from "../../../run/file-changes.ts";
import type { RunModel } from "../../../run/run-model.ts";
import { DiffView } from "../../../ui/content/diff-view.tsx";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import { previewBytes, readArtifact, readPreview } from "./read-preview.ts";

interface FileChangesProps {
  readonly run: RunModel;
  readonly entry: FileEntry;
}

/** How a file differs from the one that the run began with, and what each call changed. */
export function FileChanges({ run, entry: { path, sizeBytes } }: FileChangesProps) {
  const staged = run.files.find((file) => file.path === path);
  const changes = changesOf(run, path);
  if (staged === undefined && changes.length === 0) {
    return (
      <Empty title="No change is known">
        Only what <code>write_file</code> and <code>edit_file</code> change, and files that the run
        began with, can be compared.
      </Empty>
    );
  }
  return (
    <>
      {staged !== undefined && (
        <>
          <h3>Since the run began</h3>
          <SinceStart
            key={String(sizeBytes)}
            runId={run.runId}
            path={path}
            artifactId={staged.artifactId}
            version={changes.length}
          />
        </>
      )}
      {changes.map(({ call, before, after }, index) => (
        <section key={call.key} aria-label={`Change by ${call.call.name}`}>
          <Disclosure
            // A run may have hundreds, and each is compared when it is shown.
            isOpen={index === changes.length - 1}
            summary={
              <>
                {call.call.name} <span className="mono">{call.call.callId}</span>
              </>
            }
          >
            <DiffView
              before={before ?? ""}
              after={after}
              label={`Change of ${path} by call ${call.call.callId}`}
            />
          </Disclosure>
        </section>
      ))}
    </>
  );
}

interface SinceStartProps {
  readonly runId: string;
  readonly path: string;
  readonly artifactId: string;
  /** Changes with the content of the file. */
  readonly version: number;
}

function SinceStart({ runId, path, artifactId, version }: SinceStartProps) {
  const { data, error } = useQuery({
    queryKey: ["since start", runId, path, artifactId, version],
    queryFn: async ({ signal }) => ({
      before: await readArtifact(artifactId, signal),
      after: await readPreview(runId, path, signal),
    }),
  });
  if (error !== null) return <ProblemView problem={problemOf(error)} />;
  if (data === undefined) {
    return (
      <p className="loading" role="status">
        Loading …
      </p>
    );
  }
  const { before, after } = data;
  if (before.text === undefined || after.text === undefined) {
    return <p className="muted">This file is not text.</p>;
  }
  const label = `Change of ${path} since the start`;
  return (
    <>
      <DiffView before={before.text} after={after.text} label={label} />
      {[before, after].some(({ isCut }) => isCut) && (
        <p className="muted">Only the first {formatBytes(previewBytes)} are compared.</p>
      )}
    </>
  );
}
