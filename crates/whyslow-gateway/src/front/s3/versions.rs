//! Versions, as S3 has them of a bucket without any: each object is its version `null`.

use super::fields::{Sums, size, tag, timestamp};
use super::lists::{Coding, most};
use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::errors::{answer, invalid};
use crate::front::s3::objects::current;
use crate::sealed::Info;
use crate::store::{Conditions, ObjectName};
use s3s::dto::*;
use s3s::{S3Request, S3Response};

impl Endpoint {
    pub(super) async fn list_object_versions(
        &self,
        call: &Call,
        request: S3Request<ListObjectVersionsInput>,
    ) -> Answer<ListObjectVersionsOutput> {
        let input = request.input;
        let has_key = input.key_marker.as_ref().is_some_and(|key| !key.is_empty());
        if input.version_id_marker.as_ref().is_some_and(|version| !version.is_empty()) && !has_key {
            return Err(invalid("A version-id marker cannot be specified without a key marker."));
        }
        let max = most(input.max_keys)?;
        let text = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (prefix, delimiter) = (input.prefix.clone().unwrap_or_default(), text(input.delimiter.clone()));
        let page = self.page_behind(call, &input.bucket, (prefix, delimiter, text(input.key_marker.clone())), max);
        let (listing, next_key) = page.await?;
        let coded = Coding::of(input.encoding_type.as_ref());
        let version = |info: &Info| ObjectVersion {
            key: Some(coded.text(&info.key)),
            version_id: Some("null".to_owned()),
            is_latest: Some(true),
            size: size(info.size),
            e_tag: tag(&info.tag),
            last_modified: timestamp(info.modified),
            storage_class: Some(ObjectVersionStorageClass::from_static(ObjectVersionStorageClass::STANDARD)),
            ..ObjectVersion::default()
        };
        Ok(S3Response::new(ListObjectVersionsOutput {
            name: Some(input.bucket),
            prefix: Some(coded.text(&input.prefix.unwrap_or_default())),
            delimiter: input.delimiter.as_deref().map(|text| coded.text(text)),
            key_marker: Some(coded.text(&input.key_marker.unwrap_or_default())),
            version_id_marker: Some(input.version_id_marker.unwrap_or_default()),
            max_keys: i32::try_from(max).ok(),
            is_truncated: Some(next_key.is_some()),
            next_version_id_marker: next_key.as_ref().map(|_| "null".to_owned()),
            next_key_marker: next_key.map(|key| coded.text(&key)),
            versions: Some(listing.objects.iter().map(version).collect()),
            common_prefixes: Some(coded.prefixes(&listing.prefixes)),
            encoding_type: input.encoding_type,
            ..ListObjectVersionsOutput::default()
        }))
    }

    pub(super) async fn get_object_attributes(
        &self,
        call: &Call,
        request: S3Request<GetObjectAttributesInput>,
    ) -> Answer<GetObjectAttributesOutput> {
        let input = request.input;
        current(input.version_id.as_deref())?;
        let object = ObjectName::new(input.bucket, input.key);
        // Commas within a field stand between its values.
        let fields: Vec<&str> = input.object_attributes.iter().flat_map(|one| one.as_str().split(',')).collect();
        let known = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];
        if fields.iter().any(|field| !known.contains(&field.trim())) {
            return Err(invalid("Invalid attribute name specified."));
        }
        let wants = |name: &str| fields.iter().any(|field| field.trim() == name);
        let info = match wants("Checksum") {
            true => self.store.head_with_checksums(&object, &Conditions::default()).await,
            false => self.store.head(&object, &Conditions::default()).await,
        };
        let info = info.map_err(|error| answer(call, error))?;
        let sums = Sums::of(&info.attributes.checksums);
        let checksum = (wants("Checksum") && sums.kind.is_some()).then_some(Checksum {
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            checksum_type: sums.kind,
        });
        let parts = info.parts.and_then(|count| i32::try_from(count).ok()).filter(|_| wants("ObjectParts"));
        Ok(S3Response::new(GetObjectAttributesOutput {
            checksum,
            e_tag: tag(&info.tag).filter(|_| wants("ETag")),
            last_modified: timestamp(info.modified),
            object_size: size(info.size).filter(|_| wants("ObjectSize")),
            storage_class: wants("StorageClass").then(|| StorageClass::from_static(StorageClass::STANDARD)),
            // Parts are listed one by one only where they have checksums.
            object_parts: parts.map(|count| GetObjectAttributesParts {
                total_parts_count: Some(count),
                ..GetObjectAttributesParts::default()
            }),
            ..GetObjectAttributesOutput::default()
        }))
    }
}
