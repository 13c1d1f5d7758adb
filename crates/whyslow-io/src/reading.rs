//! [`Reading`]: what was read, and where each connection's packets are, so that they can be read
//! once more.

use crate::capture_group;
use crate::compare_sets::ReadSet;
use crate::error::Error;
use crate::feed::InputReader;
use crate::file_snapshot::FileSnapshot;
use crate::input::{Input, Progress};
use crate::join;
use crate::omitted::OmittedConnections;
use crate::stop::Stop;
use std::ops::Range;
use whyslow_analysis::{Analysis, Connection};
use whyslow_core::capture::{Packet, Summary};
use whyslow_diagnosis::series::{PacketPicker, Point, SeriesReader, WantedConnection};
use whyslow_units::Nanos;

/// An analysis, and where its packets are.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The findings.
    pub analysis: Analysis,
    groups: Vec<Range<usize>>,
    sets: Vec<FileSet>,
}

/// The result of reading one group of inputs.
pub(crate) struct GroupRead {
    pub(crate) analysis: Analysis,
    /// The sets of captures in it.
    pub(crate) sets: Vec<ReadSet>,
}

/// Files that continue each other.
#[derive(Clone, Debug)]
pub(crate) struct FileSet {
    /// In the order of time; `None` if one of them was a pipe.
    pub(crate) files: Option<Vec<FileSnapshot>>,
    /// Their places among all captures.
    pub(crate) captures: Range<usize>,
    /// The place of the first among all captures; `None` if there is only one.
    pub(crate) first: Option<u16>,
    /// The offset of their connection numbers over those in the files alone.
    pub(crate) before: u64,
}

impl FileSet {
    /// The files, where they can be read again.
    pub(crate) fn readable(&self) -> Option<&[FileSnapshot]> {
        self.files.as_deref().filter(|files| files.iter().all(|file| capture_group::is_file(&file.input)))
    }
}

/// The files that hold one connection's packets.
#[derive(Clone, Debug)]
pub struct PacketSource {
    files: Vec<FileSnapshot>,
    /// The place of the first file among all captures; `None` if there is only one.
    first: Option<u16>,
    wanted: WantedConnection,
    /// Segments that the analysis counted.
    segments: u64,
}

impl PacketSource {
    /// In an input that holds this connection and was explained alone.
    pub fn alone(input: &Input, connection: &Connection) -> Self {
        let files = vec![FileSnapshot::unknown(input.clone())];
        Self { files, first: None, wanted: WantedConnection::new(connection), segments: segments(connection) }
    }

    /// The files, in the order of time.
    pub fn files(&self) -> impl Iterator<Item = &Input> {
        self.files.iter().map(|file| &file.input)
    }

    /// Whether the connection of another lies in the same files.
    pub fn shares_files(&self, other: &Self) -> bool {
        self.first == other.first && self.files().eq(other.files())
    }

    /// Segments that the analysis counted.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Checks, without reading, that the files are still there.
    fn is_there(&self) -> Result<(), Error> {
        self.files.iter().try_for_each(FileSnapshot::is_there)
    }
}

/// Segments of both directions.
pub(crate) fn segments(connection: &Connection) -> u64 {
    connection.directions.iter().fold(0, |sum, direction| sum.saturating_add(direction.packets))
}

impl Reading {
    /// Appends the results of a group, omitted connections included, to those of the groups before
    /// it.
    pub(crate) fn new(read: Vec<GroupRead>) -> (Self, OmittedConnections) {
        let (mut groups, mut sets, mut analyses) = (Vec::new(), Vec::new(), Vec::new());
        let (mut captures, mut connections) = (0, 0);
        let mut all_omitted = Vec::new();
        for GroupRead { analysis, sets: group } in read {
            let end = captures + analysis.captures.len();
            let starts: Vec<_> = group.iter().map(|set| captures + set.captures).collect();
            let ends = starts.iter().skip(1).copied().chain([end]);
            for ((set, start), end) in group.into_iter().zip(&starts).zip(ends) {
                let (captures, before) = (*start..end, connections + set.connections);
                all_omitted.extend(set.omitted.map(|omitted| omitted.placed(captures.clone(), before)));
                sets.push(FileSet { files: set.files, captures, first: None, before });
            }
            groups.push(captures..end);
            captures = end;
            connections += join::last_id(&analysis);
            analyses.push(analysis);
        }
        if captures > 1 {
            for set in &mut sets {
                set.first = Some(u16::try_from(set.captures.start).unwrap_or(u16::MAX));
            }
        }
        let omitted = OmittedConnections { sets: all_omitted, is_apart: sets.len() > 1 };
        (Self { analysis: join::join(analyses.into_iter()), groups, sets }, omitted)
    }

    /// The captures of each group, by their places among all.
    pub fn groups(&self) -> &[Range<usize>] {
        &self.groups
    }

    /// The offset of this group's connection numbers over those in the group alone.
    pub fn before(&self, group: usize) -> u64 {
        let first =
            self.groups.get(group).and_then(|group| self.sets.iter().find(|set| set.captures.start == group.start));
        first.map_or(0, |set| set.before)
    }

    /// Where this connection's packets are; none if they came through a pipe, which cannot be read
    /// twice.
    pub fn place(&self, connection: &Connection) -> Option<PacketSource> {
        let set = self.set_of(connection)?;
        let files = set.readable()?.to_vec();
        let wanted = WantedConnection::new(connection).numbered(connection.id.saturating_sub(set.before));
        Some(PacketSource { files, first: set.first, wanted, segments: segments(connection) })
    }

    /// The files of this connection.
    pub(crate) fn set_of(&self, connection: &Connection) -> Option<&FileSet> {
        self.sets.iter().find(|set| set.captures.contains(&connection.capture))
    }

    /// The files as they were read, to check later that they are unchanged.
    pub fn files(&self) -> FilesRead {
        FilesRead(self.sets.iter().flat_map(|set| &set.files).flatten().cloned().collect())
    }
}

/// Files that were read.
#[derive(Clone, Debug)]
pub struct FilesRead(Vec<FileSnapshot>);

impl FilesRead {
    /// Checks that they are still there, and no shorter.
    ///
    /// # Errors
    /// When one is gone, or shorter than it was.
    pub fn are_there(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(FileSnapshot::is_there)
    }
}

/// Reads the files of a connection again and calls `give` for each of its segments. Returns how
/// many verdicts came after their segments had been given.
///
/// # Errors
/// When a file can no longer be read or is shorter than before. If that shows in advance, `give` is
/// not called.
pub fn follow(
    place: &PacketSource,
    give: &mut dyn FnMut(Point),
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, Error> {
    let mut given = 0_u64;
    let mut count = |_, point: Point| {
        given += 1;
        give(point);
    };
    let late = follow_all(&[place], &mut count, progress)?;
    if given < place.segments {
        let name = place.files().map(Input::name).collect::<Vec<_>>().join(", ");
        let what = "segments of the connection";
        return Err(Error::Changed { name, what, before: place.segments, now: given });
    }
    Ok(late)
}

/// Does the same for several connections of the same files in one reading; `give` also gets the
/// place of the segment's connection. The caller checks whether all segments came.
///
/// # Errors
/// As [`follow`].
pub fn follow_all(
    places: &[&PacketSource],
    give: &mut dyn FnMut(usize, Point),
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, Error> {
    let (late, files) = read_again(places, &Stop::default(), give, progress)?;
    files.iter().try_for_each(|(file, second)| file.is_all(second))?;
    Ok(late)
}

/// Does the same until a `stop` request: `give` may make it when it has enough. Whether the files
/// hold as much as before is not checked.
///
/// # Errors
/// When a file can no longer be read.
pub fn follow_until(
    places: &[&PacketSource],
    stop: &Stop,
    give: &mut dyn FnMut(usize, Point),
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Error> {
    read_again(places, stop, give, progress).map(|_| ())
}

/// The number of late verdicts, and what each file held this time.
type ReadAgain<'a> = (u64, Vec<(&'a FileSnapshot, Summary)>);

fn read_again<'a>(
    places: &[&'a PacketSource],
    stop: &Stop,
    give: &mut dyn FnMut(usize, Point),
    progress: &mut dyn FnMut(Progress),
) -> Result<ReadAgain<'a>, Error> {
    let Some(place) = places.first() else { return Ok((0, Vec::new())) };
    place.is_there()?;
    let mut feed = InputReader::new(place.files(), progress);
    let wanted = places.iter().map(|place| place.wanted.clone()).collect();
    let mut follow = SeriesReader::new(wanted, give);
    let mut read = Vec::new();
    for (at, file) in (0_u16..).zip(&place.files) {
        if stop.is_asked() {
            break;
        }
        follow.begin_capture(place.first.map(|first| first.saturating_add(at)));
        read.push((file, feed.read(&mut file.open(stop)?, &mut follow)?));
    }
    Ok((follow.finish(), read))
}

/// Reads the files of a connection again and calls `give` for each of its packets in a time range,
/// counted from the first file's first packet.
///
/// # Errors
/// When a file can no longer be read or is shorter than before.
pub fn pick(place: &PacketSource, range: (Nanos, Nanos), give: &mut dyn FnMut(&Packet<'_>)) -> Result<(), Error> {
    place.is_there()?;
    let mut ignored = |_| {};
    let mut feed = InputReader::new(place.files(), &mut ignored);
    let mut pick = PacketPicker::new(place.wanted.clone(), range, give);
    for file in &place.files {
        let second = feed.read(&mut file.open(&Stop::default())?, &mut pick)?;
        file.is_all(&second)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::path::PathBuf;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_stop_request_ends_the_second_reading_without_an_error() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples/loss-client.pcap");
        let reading = crate::read(&[&[Input::Path(path)]], &Stop::default(), &mut |_| {}).unwrap();
        let place = reading.place(&reading.analysis.connections[0]).unwrap();
        let given = |stop: &Stop| {
            let mut given = 0_u64;
            follow_until(&[&place], stop, &mut |_, _| given += 1, &mut |_| {}).map(|()| given)
        };
        assert_eq!(given(&Stop::default()).unwrap(), place.segments());
        let stop = Stop::default();
        stop.flag().store(true, Ordering::Relaxed);
        assert_eq!(given(&stop).unwrap(), 0);
    }
}
