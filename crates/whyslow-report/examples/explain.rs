//! Explains a capture file: each finding with its seconds and its fixes.
//!
//!     cargo run -p whyslow-report --example explain -- samples/slow-start-client.pcap

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use whyslow_core::capture::Reader;
use whyslow_diagnosis::explain::Explainer;
use whyslow_report::words::{self, Lang};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which capture?")?;
    let (mut file, mut block) = (File::open(&path)?, vec![0; 1 << 20]);
    let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
    explainer.begin_capture(&path);
    loop {
        let length = file.read(&mut block)?;
        if length == 0 {
            break;
        }
        reader.push(&block[..length], &mut explainer)?;
    }
    let summary = reader.finish(&mut explainer)?;
    explainer.end_capture(summary);

    let (analysis, mut out) = (explainer.finish(), std::io::stdout().lock());
    for connection in &analysis.connections {
        writeln!(out, "{} → {}", connection.client.address, connection.server.address)?;
        let of_transfers = connection.transfers.iter().flat_map(|transfer| &transfer.findings);
        for finding in connection.findings.iter().chain(of_transfers) {
            writeln!(
                out,
                "  {} {:.3} s: {}",
                finding.cause,
                finding.cost_s.as_secs_f64(),
                words::summary(finding, Lang::En)
            )?;
            for remedy in &finding.remedies {
                writeln!(out, "    fix: {}", words::action(&remedy.action, Lang::En))?;
            }
        }
    }
    Ok(())
}
