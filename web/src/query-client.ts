// Answers questions about the open captures: the local server, or a worker of this page. A report's
// own file has neither.

/** Answers questions such as `series?c=3&columns=800`; whyslow-page says which there are. */
export interface QueryClient {
  ask(question: string, signal?: AbortSignal): Promise<Response>;
  /** A question is an address too, which the browser can save itself. */
  readonly hasAddresses: boolean;
}

/** The answer, if it is a good one. */
export async function answerOf(queryClient: QueryClient, question: string): Promise<Response> {
  const answer = await queryClient.ask(question);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

/** The local server. */
export const localServer: QueryClient = {
  ask: (question, signal) => fetch(question, { cache: "no-store", ...(signal ? { signal } : {}) }),
  hasAddresses: true,
};
