//! [`BrowserFile`]: a file of the browser as an input.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use whyslow_io::{Input, Object, ObjectInput};

/// Reads bytes of a file: which file, from where, and where to. Returns how many came, 0 at the
/// end.
pub type ReadAt = Arc<dyn Fn(u32, u64, &mut [u8]) -> io::Result<usize> + Send + Sync>;

/// A file that the browser reads.
#[derive(Clone)]
pub struct BrowserFile {
    name: String,
    /// Identifies it, as names may be equal.
    location: String,
    number: u32,
    size: u64,
    read: ReadAt,
}

impl BrowserFile {
    /// File of this number, as an input.
    pub fn input(number: u32, name: &str, size: u64, read: &ReadAt) -> Input {
        let location = format!("{number}/{name}");
        let file = Self { name: name.to_owned(), location, number, size, read: Arc::clone(read) };
        Input::Object(ObjectInput::new(Arc::new(file)))
    }
}

impl fmt::Debug for BrowserFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrowserFile").field("location", &self.location).finish_non_exhaustive()
    }
}

impl Object for BrowserFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn check(&self) -> io::Result<()> {
        // The browser refuses to read a file that has changed.
        Ok(())
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(FileReader { file: self.clone(), offset: 0 }))
    }
}

struct FileReader {
    file: BrowserFile,
    offset: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (self.file.read)(self.file.number, self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}
