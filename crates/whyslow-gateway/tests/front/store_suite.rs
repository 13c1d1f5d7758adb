//! The tests of the crate `object_store` for every store, run against the gateway with its client.
//! Arrow, DataFusion and delta-rs use it.

use crate::server::{KEY, SECRET, Server};
use object_store::ObjectStoreExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, S3CopyIfNotExists};
use object_store::integration;
use object_store::signer::Signer;
use std::time::Duration;

fn store(server: &Server) -> AmazonS3 {
    let builder = AmazonS3Builder::new().with_bucket_name("bucket").with_endpoint(server.url()).with_allow_http(true);
    // S3 has no condition for the destination of a copy, so it is an upload of one part.
    let builder = builder.with_copy_if_not_exists(S3CopyIfNotExists::Multipart);
    builder.with_access_key_id(KEY).with_secret_access_key(SECRET).with_region("us-east-1").build().unwrap()
}

fn run(work: impl AsyncFnOnce(&AmazonS3)) {
    // The other tests of this process may have done it.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let server = Server::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work(&store(&server)));
}

#[test]
fn objects_are_stored_read_and_deleted() {
    run(async |store| {
        integration::put_get_delete_list(store).await;
        integration::get_opts(store).await;
        integration::put_get_attributes(store).await;
        assert!(integration::get_nonexistent_object(store, None).await.is_err());
    });
}

#[test]
fn objects_are_stored_under_conditions() {
    run(async |store| integration::put_opts(store, true).await);
}

#[test]
fn lists_are_those_of_a_store() {
    run(async |store| {
        integration::list_uses_directories_correctly(store).await;
        integration::list_with_delimiter(store).await;
        integration::list_paginated(store, store).await;
        integration::list_with_offset_exclusivity(store).await;
    });
}

#[test]
fn objects_are_copied_and_renamed() {
    run(async |store| {
        integration::rename_and_copy(store).await;
        integration::copy_if_not_exists(store).await;
        integration::copy_rename_nonexistent_object(store).await;
    });
}

#[test]
fn uploads_in_parts_are_completed() {
    run(async |store| {
        integration::stream_get(store).await;
        integration::multipart(store, store).await;
        integration::multipart_with_opts(store, store).await;
        integration::multipart_put_part_out_of_order(store, store).await;
        integration::multipart_out_of_order(store).await;
        integration::multipart_race_condition(store, true).await;
    });
}

#[test]
fn links_are_signed() {
    run(async |store| {
        let path = object_store::path::Path::from("a b/c");
        store.put(&path, "linked".into()).await.unwrap();
        let url = store.signed_url(http::Method::GET, &path, Duration::from_secs(60)).await.unwrap();
        let answer = reqwest::get(url).await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "linked");
        store.delete(&path).await.unwrap();
    });
}
