// Made by `npm run model` from docs/schema/whyslow-probe-1.schema.json: change that.

/** Members are added, never renamed; times are seconds. */
export interface Probe {
  schema: "whyslow-probe/1";
  /** in the order in which they were made */
  requests: {
    /** as it was typed */
    url: string;
    /** a connection each, or one for all */
    series: "new" | "reuse";
    /** of a series of sizes, or of --upload SIZE */
    size: number | null;
    /** the pause before it */
    idle_s: number;
    /** null where it was answered; else the members below are left out */
    failure: null | {
      phase: "url" | "dns" | "connect" | "proxy" | "tls" | "send" | "wait" | "transfer";
      /** happened */
      what: string;
      /** next */
      look_at: string | null;
    };
    /** seconds since the epoch */
    began?: number;
    /** the variables of curl -w; times are sums over redirects */
    curl?: {
      [k: string]: number | string;
    };
    /** one, and one for each redirect */
    hops?: {
      /** that was asked for, without user and password */
      url: string;
      /** of the answer */
      status: number;
      http: "0.9" | "1.0" | "1.1" | "2";
      /** the connection was open before */
      reused: boolean;
      /** all times are between this machine and this proxy */
      proxy: string | null;
      /** addresses in the order in which they were tried */
      attempts: {
        /** that was tried */
        address: string;
        /** since connecting began */
        after_s: number;
        /** until the outcome */
        took_s: number;
        outcome: "connected" | "given-up" | "timed-out" | "failed";
        /** why it failed */
        detail: string | null;
      }[];
      /** address and port */
      local: string;
      /** address and port */
      remote: string;
      tls: null | {
        /** 1.2, 1.3 */
        version: string;
        /** the cipher suite */
        cipher: string;
        /** agreed on by ALPN */
        protocol: string | null;
        /**
         * with the server's certificate; the same after a request for another key share; with the
         * keys of an earlier session
         */
        handshake: "full" | "full-with-retry" | "resumed";
      };
      times: {
        /** the name's addresses were there; null where nothing was looked up */
        namelookup_s: number | null;
        /** the TCP connection was open; null on one that was open before */
        connect_s: number | null;
        /** the proxy had opened the tunnel */
        tunnel_s: number | null;
        /** the TLS handshake was over */
        appconnect_s: number | null;
        /** the request began to be sent */
        pretransfer_s: number;
        /** the kernel had taken all of it */
        posttransfer_s: number | null;
        /**
         * none of it was left in the send buffer that had not been sent (tcpi_notsent_bytes 0);
         * null without TCP_INFO
         */
        sent_s: number | null;
        /** the peer had acknowledged all of it (tcpi_bytes_acked); null without TCP_INFO */
        acknowledged_s: number | null;
        /**
         * the first packet of the answer had come: the first byte of the TLS record, or of the
         * segment, with the status line or our stream's HEADERS; no interim answer, session ticket
         * or SETTINGS
         */
        first_packet_s: number;
        /** the first byte of the answer could be read: under TLS when its whole record had come */
        starttransfer_s: number;
        /** the last byte had come */
        total_s: number;
      };
      /** bytes of the TLS record that the answer begins in, its header included */
      first_record: number | null;
      /** of the answer */
      body_bytes: number;
      /** of the request's body that left this machine */
      sent_bytes: number;
      /** of the request's whole body: more than was sent if the server answered early */
      upload_bytes: number;
      /** that the connection carried for it: up, down; heads and TLS included Items: bytes */
      wire_bytes: [number, number];
      /** where it redirects to */
      location: string | null;
      /** of this end */
      congestion_control: string | null;
      /**
       * every 2 ms; fewer of a connection that lasts long Items: TCP_INFO at one instant; the other
       * members have the names of struct tcp_info without tcpi_, and fields that this kernel lacks
       * are null. Times in it are microseconds, except milliseconds in last_data_sent,
       * last_data_recv, last_ack_recv and total_rto_time; rates are bytes per second.
       */
      samples: {
        /** since the hop began */
        time_s: number;
        [k: string]: number | null;
      }[];
    }[];
    floor?: null | {
      /** one round trip, and the bytes at rate_bps */
      seconds: number;
      /** minimum RTT of the requests to this URL */
      rtt_s: number;
      /** the highest observed rate, bits per second; null if too few bytes arrived */
      rate_bps: number | null;
      /** in time order */
      rest: {
        /** a part of the time beyond the floor */
        what: string;
        /** of it */
        seconds: number;
      }[];
    };
    /** by TCP_INFO alone; the packets' verdict is in analysis */
    verdict?: null | {
      /** its name; possible, for it rests on one end's account */
      cause: string | null;
      /** in words */
      text: string;
    };
    /** its id in analysis */
    connection?: number | null;
  }[];
  /** one for each URL, of its fastest request; empty for one URL */
  side_by_side: {
    /** as it was typed */
    url: string;
    /** minimum RTT */
    rtt_s: number | null;
    /** round trips that the answer took */
    rounds: number;
    /** bytes of the first of them */
    first_flight: number;
    /** bytes that the connection carried up */
    asked: number;
    /** and down */
    answered: number;
    /** bytes down for each byte up */
    amplification: number;
    /** the largest window that this end offered, bytes */
    own_window: number | null;
    /** what rounds and first_flight rest on */
    from: "packets" | "TCP_INFO" | "nothing";
    /** of the TCP handshake */
    connect_s: number | null;
    /** of the fastest request */
    total_s: number;
  }[];
  recording: {
    /** recorded */
    packets: number;
    /** that the kernel had no room for */
    dropped: number;
    /** why nothing was recorded; null where it was */
    missing: string | null;
  };
  /** the analysis of the packets: whyslow/2 (whyslow-2.schema.json); null if none were recorded */
  analysis: {
    [k: string]: unknown;
  } | null;
  /**
   * How the times of the requests to a URL are spread, on new connections and on open ones apart;
   * of five answers or more
   */
  spread?: {
    url: string;
    /** Whether they were made on open connections */
    warm: boolean;
    requests: number;
    /** Seconds, by nearest rank */
    first_byte_s: {
      min: number;
      mean: number;
      p50: number;
      p90: number;
      p95: number;
      p99: number;
      max: number;
    };
    /** Seconds, by nearest rank */
    total_s: {
      min: number;
      mean: number;
      p50: number;
      p90: number;
      p95: number;
      p99: number;
      max: number;
    };
    /** The mean of the totals after the first 5, 10, 20, 50, … requests, and after all */
    running_mean: {
      requests: number;
      mean_s: number;
      /** one standard deviation of this mean */
      standard_error_s: number;
    }[];
    /** The totals in equally wide ranges */
    histogram: {
      from_s: number;
      to_s: number;
      requests: number;
    }[];
  }[];
}
