// All of a connection: out of the document, or asked of the server.

import { useEffect, useState } from "preact/hooks";
import type { Content } from "./document";
import type { Connection } from "./model";
import type { QueryClient } from "./query-client";
import { t } from "./texts";
import { connectionOf, type WordSheet } from "./words";

/** The connection, `null` while it is asked for, or why there is none. */
export function useConnection(
  content: Content | null,
  id: number | null,
  queryClient: QueryClient | null,
): Connection | string | null {
  const held = content?.analysis.connections.find((one) => one.id === id) ?? null;
  const [loaded, setLoaded] = useState<{ content: Content; id: number; found: Connection | string } | null>(null);
  useEffect(() => {
    if (content === null || id === null || held) return;
    let wanted = true;
    const store = (found: Connection | string) => wanted && setLoaded({ content, id, found });
    if (!queryClient) {
      store(t`This report holds only the slowest connections in full; \`whyslow view\` of the capture shows all.`);
      return;
    }
    queryClient
      .ask(`connection?c=${id}`)
      .then(async (answer) =>
        store(
          answer.ok
            ? connectionOf((await answer.json()) as Connection & { words: WordSheet })
            : (await answer.text()).trim(),
        ),
      )
      .catch((error: Error) => store(error.message));
    return () => {
      wanted = false;
    };
  }, [content, id, held, queryClient]);
  return held ?? (loaded?.content === content && loaded.id === id ? loaded.found : null);
}
