//! Captures in object storage and behind URLs: [`Remote`] makes [`Input`]s of their names.
//!
//! - `location` reads a URL; `bucket` opens the named object with the credentials of the
//!   environment.
//! - `pattern` finds the objects that a key with `*` and `?` matches.
//! - `reach` decides which redirects are followed; `listing` bounds what a store may answer.
//! - `place` is the interface of a place where bytes are stored. Places are `cloud`, through the
//!   crate `object_store`, and `web`, any server of HTTP.
//! - `fetch` resumes a broken connection where it broke; `object` gives the bytes to whyslow-io.
//!
//! Bytes stream: a few pieces that the network gave are held, and nothing else. The version of an
//! object (its ETag) is fixed when it is first looked at; every later request asks for that one.
#![forbid(unsafe_code)]

mod bucket;
mod cause;
mod cloud;
mod error;
mod fetch;
mod listing;
mod location;
mod object;
mod pattern;
mod place;
mod reach;
mod runner;
mod web;

pub use error::{Error, SCHEMES};
pub use reach::Redirects;

use bucket::{Bucket, Service};
use cloud::CloudObject;
use location::Location;
use object::RemoteObject;
use place::Place;
use runner::Runner;
use rustls::crypto::ring;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use web::WebObject;
use whyslow_io::{Input, ObjectInput};

/// Opens what URLs name. Objects of one bucket share its connections.
#[derive(Debug)]
pub struct Remote {
    runner: Arc<Runner>,
    redirects: Redirects,
    buckets: Mutex<HashMap<(Service, String), Arc<Bucket>>>,
}

impl Remote {
    /// Starts the thread that looks after connections; nothing is asked of the network yet.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn new() -> io::Result<Self> {
        // Another crate has chosen already, which is fine.
        let _ = ring::default_provider().install_default();
        let redirects = Redirects::default();
        Ok(Self { runner: Arc::new(Runner::start()?), redirects, buckets: Mutex::default() })
    }

    /// Sets which redirects of `http://` and `https://` are followed.
    #[must_use]
    pub fn with_redirects(self, redirects: Redirects) -> Self {
        Self { redirects, ..self }
    }

    /// The objects that a URL names, in the order of their keys: one, or those that match where its
    /// key has `*` or `?`. Only a pattern is asked of the network; whether an object can be read
    /// shows when it is opened.
    ///
    /// # Errors
    /// When this is no URL that is understood, its store cannot be opened or listed, or its pattern
    /// matches nothing.
    pub fn inputs(&self, url: &str) -> Result<Vec<Input>, Error> {
        let (service, bucket, key) = match Location::read(url)? {
            Location::Web(address) => {
                let place = WebObject::new(address, self.redirects).map_err(|why| Error::client(url, why))?;
                return Ok(vec![self.input(place.name(), url.to_owned(), None, Arc::new(place))]);
            }
            Location::Key { service, bucket, key } => (service, bucket, key),
        };
        let bucket = self.bucket(url, service, &bucket)?;
        if !pattern::is_pattern(&key) {
            let path = cloud::path(&key).map_err(|why| Error::client(url, why))?;
            return Ok(vec![self.object(bucket, path, None)]);
        }
        let found = self.runner.block_on(pattern::expand(&bucket, url, &key))?;
        Ok(found.into_iter().map(|found| self.object(Arc::clone(&bucket), found.location, Some(found.size))).collect())
    }

    /// The bucket, which is opened once.
    fn bucket(&self, url: &str, service: Service, name: &str) -> Result<Arc<Bucket>, Error> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (service, name.to_owned());
        if let Some(bucket) = buckets.get(&key) {
            return Ok(Arc::clone(bucket));
        }
        let bucket = Arc::new(Bucket::open(service, name).map_err(|why| Error::client(url, why))?);
        buckets.insert(key, Arc::clone(&bucket));
        Ok(bucket)
    }

    fn object(&self, bucket: Arc<Bucket>, path: object_store::path::Path, size: Option<u64>) -> Input {
        let name = bucket.url(path.as_ref());
        self.input(name.clone(), name, size, Arc::new(CloudObject::new(bucket, path)))
    }

    fn input(&self, name: String, location: String, size: Option<u64>, place: Arc<dyn Place>) -> Input {
        let object = RemoteObject::new(name, location, size, place, Arc::clone(&self.runner));
        Input::Object(ObjectInput::new(Arc::new(object)))
    }
}

#[cfg(test)]
mod tests;
