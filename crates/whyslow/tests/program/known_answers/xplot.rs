//! The graphs of `whyslow export --xplot` against those that tcptrace draws of the same captures.

use whyslow_testing::capture;

/// How often each sign is in an xplot file of `whyslow export`, by colour; `None` if the captures
/// are missing.
#[track_caller]
fn plotted(name: &str, graph: &str) -> Option<impl Fn(&str, &str) -> usize> {
    let file = capture(name)?;
    let folder = tempfile::tempdir().unwrap();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .arg("export")
        .arg(&file)
        .args(["--xplot", "-o"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let name = format!("{}.1.{graph}.xpl", file.file_name().unwrap().to_str().unwrap());
    let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
    let mut signs = Vec::new();
    let mut color = String::new();
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        match words.as_slice() {
            [word] => {
                signs.push(("text".to_owned(), (*word).to_owned()));
                color = (*word).to_owned();
            }
            [sign, .., own] if own.parse::<f64>().is_err() => signs.push(((*sign).to_owned(), (*own).to_owned())),
            [sign, ..] => signs.push(((*sign).to_owned(), color.clone())),
            [] => {}
        }
    }
    Some(move |sign: &str, color: &str| signs.iter().filter(|(a, b)| a == sign && b == color).count())
}

#[test]
fn xplot_graphs_have_what_tcptrace_draws() {
    // tcptrace -G: 7 red segments with `R`, 3 third duplicates, 179 SACKs (of which the one D-SACK
    // is in a segment whose checksum is wrong, which its receiver drops), 3,900 round trips (of
    // which the first is the handshake's).
    let Some(count) = plotted("tcptrace/dsack.dmp.gz", "c2s_tsg") else { return };
    assert_eq!((count("line", "red"), count("text", "F"), count("text", "3")), (7, 7, 3));
    assert_eq!((count("text", "S"), count("text", "D")), (178, 0));
    assert_eq!((count("line", "white"), count("dtick", "green")), (11_587, 205));
    let count = plotted("tcptrace/dsack.dmp.gz", "c2s_rtt").unwrap();
    assert_eq!(count("dot", "red"), 3_899);
    let count = plotted("tcptrace/dsack.dmp.gz", "c2s_tput").unwrap();
    assert_eq!(count("dot", "yellow"), 11_594);
    // tcptrace -G: 7 `Z`, 6 probes, 340 pushes, 17,992 segments, 11 duplicates.
    let count = plotted("tcptrace/zwnd.dmp.gz", "c2s_tsg").unwrap();
    assert_eq!((count("atext", "magenta"), count("text", "W"), count("diamond", "white")), (7, 6, 340));
    assert_eq!((count("line", "white"), count("dtick", "green")), (17_992, 11));
}
