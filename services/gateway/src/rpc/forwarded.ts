import { failureFrom } from "@reeve/platform/rpc/connect-failure";

/** Returns the answer of another Reeve service, or throws its error as the Failure that the caller gets. */
export async function forwarded<Response>(call: Promise<Response>): Promise<Response> {
  try {
    return await call;
  } catch (error) {
    throw failureFrom(error);
  }
}
