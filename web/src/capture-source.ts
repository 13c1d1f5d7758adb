// Opens captures: the local server, or a worker of this page.

import type { Content } from "./document";
import type { QueryClient } from "./query-client";
import { t } from "./texts";

/** How far a reading is, bytes. */
export interface Reading {
  name: string;
  read: number;
  total: number | null;
}

/** What is open, and why a later opening failed. */
export interface Opened {
  content: Content | null;
  failed: string | null;
}

/** A capture to try. */
export interface Sample {
  name: string;
  /** What it shows, in a few words. */
  lesson: string;
  file(): Promise<File>;
}

export interface CaptureSource extends QueryClient {
  /** What is open when the page begins. */
  begin(told: (reading: Reading) => void): Promise<Opened>;
  /**
   * Opens files that were dropped together. `beside`: what is open stays, and this transfer of it
   * (`3.2`; empty: its largest) is compared with theirs. If it fails, what was open is so still.
   */
  open(files: File[], beside: string | null, told: (reading: Reading) => void): Promise<Opened>;
  /** What is open now. */
  current(): Promise<Content | null>;
  /** Ends a reading, which then fails with `Stopped`; none where that cannot be done. */
  stop?(): void;
  /** What the last reading took; none where that is not known. */
  cost?(): string;
  readonly samples: Sample[];
}

/** A reading that its reader has ended. */
export class Stopped extends Error {
  constructor() {
    super(t`you stopped it`);
  }
}
