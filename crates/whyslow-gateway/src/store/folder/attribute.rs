//! Data of an object besides the bytes of its file: an extended attribute if files have them
//! (xattr(7)), an alternate data stream on NTFS. Both move with the file.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(unix)]
const NAME: &str = "user.whyslow-gateway";

#[cfg(unix)]
pub(super) fn set(file: &File, _: &Path, value: &[u8]) -> io::Result<()> {
    use xattr::FileExt;
    file.set_xattr(NAME, value)
}

/// `None` if the file has none.
#[cfg(unix)]
pub(super) fn get(file: &File, _: &Path) -> io::Result<Option<Vec<u8>>> {
    use xattr::FileExt;
    file.get_xattr(NAME)
}

#[cfg(windows)]
pub(super) fn set(_: &File, path: &Path, value: &[u8]) -> io::Result<()> {
    std::fs::write(stream(path), value)
}

/// `None` if the file has none. Another file may have come in its place since it was opened: then
/// that is an error, and the caller may try again.
#[cfg(windows)]
pub(super) fn get(file: &File, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let value = match std::fs::read(stream(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        value => value?,
    };
    if same_file::Handle::from_file(file.try_clone()?)? != same_file::Handle::from_path(path)? {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "the object was replaced while it was opened"));
    }
    Ok(Some(value))
}

#[cfg(windows)]
fn stream(path: &Path) -> std::ffi::OsString {
    let mut name = path.as_os_str().to_owned();
    name.push(":whyslow-gateway");
    name
}
