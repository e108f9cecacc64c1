import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { isTransient } from "./api/problem.ts";
import { transport } from "./api/transport.ts";
import { useSession } from "./api/use-session.ts";
import { router } from "./router.tsx";
import { OfferedSession } from "./screens/offered-session.tsx";
import { SignIn } from "./screens/sign-in.tsx";
import { ReturnedSignIn } from "./sign-in/returned-sign-in.tsx";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      retry: (failures, error) => failures < 3 && isTransient(error),
    },
    mutations: { retry: false },
  },
});

interface AppProps {
  /** The address with which the provider of the sign-ins led back to the page. */
  readonly returned: URL | undefined;
}

/** The whole console: the question whether to use the token of the address, the sign-in, or the screens for who has signed in. */
export function App({ returned }: AppProps) {
  const [address, setAddress] = useState(returned);
  const onSignInEnd = useCallback((returnTo: string) => {
    router.history.replace(returnTo);
    setAddress(undefined);
  }, []);
  const { token, offered } = useSession();
  const hasScreens = token !== undefined && offered === undefined;
  useEffect(() => {
    // What another person has read in this tab must not stay.
    if (!hasScreens) queries.clear();
  }, [hasScreens]);
  if (offered !== undefined) return <OfferedSession token={offered} />;
  if (address !== undefined) return <ReturnedSignIn address={address} onEnd={onSignInEnd} />;
  if (token === undefined) return <SignIn />;
  return (
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </TransportProvider>
  );
}
