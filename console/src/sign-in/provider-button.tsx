import { useEffect, useState } from "react";
import { keepSignIn } from "./begun-sign-in.ts";
import type { SignInSettings } from "./sign-in-settings.ts";

/** Leads to the provider of the deployment, which leads back. Its library is loaded when it is needed. */
export function ProviderButton({ settings }: { readonly settings: SignInSettings }) {
  const [isLeaving, setLeaving] = useState(false);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    // With Back, the browser may show the page as it was left.
    const onShow = () => setLeaving(false);
    window.addEventListener("pageshow", onShow);
    return () => window.removeEventListener("pageshow", onShow);
  }, []);
  const host = new URL(settings.issuer).host;
  const onClick = async () => {
    setLeaving(true);
    setProblem(undefined);
    const { origin, pathname, search } = window.location;
    try {
      const { beginSignIn } = await import("./oidc.ts");
      const { begun, url } = await beginSignIn(settings, pathname + search);
      keepSignIn(sessionStorage, begun);
      window.location.assign(url);
    } catch (thrown) {
      const { signInProblem } = await import("./sign-in-problem.ts");
      setProblem(signInProblem(thrown, settings, origin));
      setLeaving(false);
    }
  };
  if (!window.isSecureContext) {
    return (
      <p className="hint">
        {host} signs people in at addresses with <code>https://</code> only. Open the console there,
        or enter a token.
      </p>
    );
  }
  return (
    <>
      <button
        type="button"
        className="button primary"
        disabled={isLeaving}
        onClick={() => void onClick()}
      >
        {isLeaving ? `Opening ${host} …` : `Continue with ${host}`}
      </button>
      {problem !== undefined && (
        <p className="problem-line" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
