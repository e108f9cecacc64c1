import { useQuery } from "@tanstack/react-query";
import type { FileEntry } from "@reeve/contracts/tool";
import { problemOf } from "../../../api/problem.ts";
import { formatBytes } from "../../../format/amounts.ts";
import { Markdown } from "../../../ui/content/markdown.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import { previewBytes, readPreview } from "./read-preview.ts";

interface FilePreviewProps {
  readonly runId: string;
  readonly entry: FileEntry;
}

/** The start of a file, if it is text. */
export function FilePreview({ runId, entry }: FilePreviewProps) {
  const { path, sizeBytes } = entry;
  const { data, error } = useQuery({
    queryKey: ["file", runId, path, String(sizeBytes)],
    queryFn: ({ signal }) => readPreview(runId, path, signal),
  });
  if (error !== null) return <ProblemView problem={problemOf(error)} />;
  if (data === undefined) {
    return (
      <p className="loading" role="status">
        Loading …
      </p>
    );
  }
  if (data.text === undefined) return <p className="muted">This file is not text.</p>;
  return (
    <>
      {path.endsWith(".md") ? (
        <Markdown text={data.text} />
      ) : (
        <pre className="code" tabIndex={0} role="region" aria-label={`Content of ${path}`}>
          {data.text}
        </pre>
      )}
      {Number(sizeBytes) > previewBytes && (
        <p className="muted">
          The first {formatBytes(previewBytes)} of {formatBytes(Number(sizeBytes))}.
        </p>
      )}
    </>
  );
}
