#![allow(clippy::unwrap_used)]

use super::*;
use async_trait::async_trait;
use futures_util::stream;
use std::sync::Mutex;
use tokio::sync::mpsc::channel;

/// Answers with pieces of its bytes, each connection breaking after one, until none may break any
/// more.
#[derive(Debug)]
struct Brittle {
    bytes: &'static [u8],
    version: Version,
    /// Offsets that were asked for.
    asked: Mutex<Vec<u64>>,
    /// Connections that give nothing, from the second one on.
    dead: usize,
}

impl Brittle {
    fn new(dead: usize) -> Arc<Self> {
        let version = Version { tag: Some("\"1\"".to_owned()), modified: None };
        Arc::new(Self { bytes: b"packets", version, asked: Mutex::default(), dead })
    }
}

#[async_trait]
impl Place for Brittle {
    async fn look(&self, _: Option<&Version>) -> Result<Facts, Failure> {
        Err(Failure::Broken("nobody asks".to_owned()))
    }

    async fn get(&self, from: u64, _: Option<&Version>) -> Result<(Facts, Pieces), Failure> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(from);
        if (2..self.dead + 2).contains(&asked.len()) {
            return Err(Failure::Broken("no route".to_owned()));
        }
        let start = usize::try_from(from).unwrap();
        let piece = Bytes::from_static(&self.bytes[start..self.bytes.len().min(start + 3)]);
        let facts = Facts { size: Some(self.bytes.len() as u64), version: self.version.clone() };
        Ok((facts, stream::iter([Ok(piece)]).boxed()))
    }
}

/// All that comes, and the error at its end.
async fn read(place: &Arc<Brittle>) -> (Vec<u8>, Option<String>) {
    let opened = open(&**place, None).await.unwrap();
    let (sender, mut pieces) = channel(1);
    tokio::spawn(pump(Arc::clone(place) as Arc<dyn Place>, opened, sender));
    let mut all = Vec::new();
    while let Some(piece) = pieces.recv().await {
        match piece {
            Ok(piece) => all.extend_from_slice(&piece),
            Err(error) => return (all, Some(error.to_string())),
        }
    }
    (all, None)
}

#[tokio::test(start_paused = true)]
async fn the_rest_is_asked_for_until_all_is_there() {
    let place = Brittle::new(RESUMING as usize - 1);
    assert_eq!(read(&place).await, (b"packets".to_vec(), None));
    let asked = place.asked.lock().unwrap().clone();
    assert_eq!((asked.first(), asked.last()), (Some(&0), Some(&6)));
    assert!(asked.is_sorted());
}

#[tokio::test(start_paused = true)]
async fn it_is_given_up_after_a_number_of_tries() {
    let place = Brittle::new(usize::MAX - 2);
    let (all, error) = read(&place).await;
    assert_eq!((all, error.as_deref()), (b"pac".to_vec(), Some("no route (tried 8 times)")));
    assert_eq!(place.asked.lock().unwrap().len(), 1 + RESUMING as usize);
}
