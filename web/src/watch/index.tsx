// The page of a watch: what costs time now, the transfers that have ended, and one that is opened.

import type { Content } from "../document";
import type { Notes } from "../notes";
import type { Go, State } from "../url-state";
import { LiveConnection } from "./connection";
import { useFeed } from "./feed";
import { Now } from "./now";
import { Transfers } from "./transfers";
import "./watch.css";

export interface WatchProps {
  content: Content;
  view: State;
  go: Go;
  help: (slug: string) => void;
  notes: Notes;
}

export function WatchView(props: WatchProps) {
  const feed = useFeed();
  const { board } = feed;
  const { connection } = props.view;
  if (board === null) {
    return (
      <main class="waiting" aria-busy={feed.silence === null}>
        {feed.silence !== null && <p role="alert">{feed.silence}</p>}
      </main>
    );
  }
  // What is behind an opened transfer stays as it is: its order, and how far it is scrolled.
  return (
    <>
      <main class="overview watch" hidden={connection !== null}>
        <Now feed={feed} board={board} {...props} />
        <Transfers feed={feed} board={board} {...props} />
      </main>
      {connection !== null && <LiveConnection key={connection} id={connection} latest={feed.latest} {...props} />}
    </>
  );
}
