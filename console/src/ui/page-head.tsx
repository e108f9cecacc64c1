import type { ReactNode } from "react";
import { useEffect } from "react";

interface PageHeadProps {
  readonly title: string;
  /** Buttons of the screen. */
  readonly children?: ReactNode;
}

/** The heading of a screen, which is also the title of the tab. */
export function PageHead({ title, children }: PageHeadProps) {
  useTitle(title);
  return (
    <header className="page-head">
      <h1>{title}</h1>
      {children !== undefined && <div className="row">{children}</div>}
    </header>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Reeve" : `${title} · Reeve`;
  }, [title]);
}
