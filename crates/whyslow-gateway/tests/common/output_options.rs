//! Every option that names a file or a folder. `cli::options` checks that none is missing, and
//! `outputs` that no output replaces an input.

/// An option that names a file or folder to write: its command, its name, and a run in which the
/// output is an input as well: the output's place in a folder, and the arguments. `{in}` is the
/// input, `{place}` the output, `{dir}` the folder.
pub const OUTPUTS: &[(&str, &str, &str, &str)] = &[
    ("epoch", "output", "out", "epoch --recipient {recipient} --output {place}"),
    ("init", "folder", "keys/access.key", "init {dir}/keys"),
    ("keygen", "output", "out", "keygen --output {place}"),
    ("open", "output", "out", "open {in} --epoch {epoch} -i env:NONE --name a/b --metadata x -o {place}"),
    ("rekey", "output", "out", "rekey {epoch} -i file:{key} -r {recipient} --output {place}"),
    ("seal", "output", "out", "seal {in} --epoch {epoch} -i file:{key} --name a/b -o {place}"),
];

/// Options that name a file or folder to read, and two that `serve` appends to or passes on to
/// `watch --keep`.
pub const INPUTS: &[(&str, &str)] = &[
    ("check", "config"),
    ("check", "epochs"),
    ("clean", "config"),
    ("layout", "config"),
    ("layout", "epochs"),
    ("layout", "object"),
    ("open", "epochs"),
    ("open", "object"),
    ("rekey", "epoch"),
    ("seal", "epochs"),
    ("seal", "file"),
    ("serve", "config"),
    ("serve", "epochs"),
    ("serve", "keep"),
    ("serve", "log"),
    ("serve", "tls_cert"),
    ("serve", "tls_key"),
];
